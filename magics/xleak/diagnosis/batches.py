"""How large a batch would fit, by the peaks of profiled cells with batches of different sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xleak.diagnosis.checks import NOTHING, Check
from xleak.diagnosis.evidence import Evidence
from xleak.render.units import human_bytes
from xleak.shell.batches import BatchPeak

QUESTION = "Is the batch near the largest that fits?"
# From here on a small change of the data no longer fits.
_NEAR = 0.9
# Of a peak: further from the line memory does not follow the size of the batch.
_OFF = 0.05
_NEXT = "%%leakcheck --profile above the loop, with two values of batch_size"


def largest_batch(evidence: Evidence) -> Check:
    """Unknown where the peaks are on no line that rises."""
    peaks = {it.size: it for it in evidence.batches}
    if len(peaks) < 2:
        told = "no two profiled cells had batches of different sizes"
        return _unknown(told, _NEXT)
    if evidence.room_bytes is None:
        return _unknown("how much is free is not known", "%xleak devices")
    base, each = _line(list(peaks.values()))
    if each <= 0:
        return _unknown("the peak does not rise with the size of the batch", _NEXT)
    if any(
        abs(base + each * it.size - it.peak_bytes) > _OFF * it.peak_bytes for it in peaks.values()
    ):
        return _unknown("the peaks of these sizes are on no straight line", "%memreport")
    largest = max(0, math.floor((evidence.room_bytes - base) / each))
    latest = evidence.batches[-1]
    told = (
        f"about {largest} fit into the {human_bytes(evidence.room_bytes)} that are free, by the peaks of "
        f"batches of {', '.join(str(size) for size in sorted(peaks))}: {human_bytes(int(each))} for each "
        f"element; {evidence.verdict.name_of(latest.cell)} had {latest.size}"
    )
    if latest.size >= _NEAR * largest:
        then = "a smaller batch, torch.autocast or torch.utils.checkpoint"
        return Check(QUESTION, "yes", told, then, "XL603", latest.cell)
    return Check(QUESTION, "no", told, NOTHING, "XL603", latest.cell)


def _unknown(told: str, then: str) -> Check:
    return Check(QUESTION, "unknown", told, then, "XL603")


def _line(points: Sequence[BatchPeak]) -> tuple[float, float]:
    """(bytes at 0, bytes for each element) by least squares."""
    sizes, peaks = [it.size for it in points], [it.peak_bytes for it in points]
    mean, level = sum(sizes) / len(sizes), sum(peaks) / len(peaks)
    spread = sum((size - mean) ** 2 for size in sizes)
    each = sum((s - mean) * (p - level) for s, p in zip(sizes, peaks, strict=True)) / spread
    return level - each * mean, each
