"""The whole diagnosis, in the order of the method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from xleak import _native
from xleak.diagnosis.batches import largest_batch
from xleak.diagnosis.checks import NOTHING, Answer, Check, Section, by_rules
from xleak.diagnosis.evidence import Evidence
from xleak.diagnosis.symptoms import Symptom, symptoms
from xleak.diagnosis.timing import timing
from xleak.render.units import human_bytes
from xleak.verdict import Cell

SCHEMA = "xleak.diagnosis/1"
# From the seed of the method: above it the rest is fragments.
_FRAGMENTED = 1.5
# From the seed of the method: above it checkpointing pays.
_SAVED = 0.6
# A peak that stands less above the end of its cell is no matter.
_LEAST_PEAK_BYTES = 256 << 20


@dataclass(frozen=True)
class Diagnosis:
    """Symptoms, and sections of questions."""

    symptoms: list[Symptom]
    sections: list[Section]
    modes: str = ""
    """Of torch, in one line."""

    @property
    def problems(self) -> list[Check]:
        """The questions whose answer is yes."""
        return [it for section in self.sections for it in section.checks if it.answer == "yes"]


def to_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as `xleak.diagnosis/1`."""
    return {"schema": SCHEMA, **asdict(diagnosis)}


def walk(evidence: Evidence) -> Diagnosis:
    """The diagnosis of a session. A question stands in each list that it belongs to."""

    def ask(question: str, *codes: str) -> Check:
        return by_rules(question, codes, evidence)

    reset = ask("Do gradients of earlier steps add up?", "XL204")
    history = ask("Do results keep their graphs?", "XL101", "XL102", "XL203")
    state = ask("Does a hidden state keep the graphs of all steps before?", "XL208")
    tracked = ask("Does evaluation record graphs?", "XL201", "XL202")
    mixed = ask("Do tensors of one module lie on several devices?", "XL606")
    precision = ask("Is mixed precision used as it should not be?", "XL607")
    moved = ask("Does a loop move the same data again and again?", "XL605")
    strided = ask("Do hot loops work on strided views?", "XL116")
    pooled = ask("Does a loop make and free the same large tensor?", "XL114")
    chained = ask("Are there chains of copies that could be in place?", "XL117")
    parallel = ask("Is DataParallel out of balance?", "XL608")
    times = timing(evidence)
    sections = [
        Section("1. Memory", [_grows(evidence), _fragmented(evidence), _peaks(evidence)]),
        Section("2. Gradient reset", [reset]),
        Section("3. Detachment", [history]),
        Section("4. Hidden states", [state]),
        Section("5. Evaluation", [tracked]),
        Section(
            "6. Reference cycles",
            [ask("Do cycles wait for the collector?", "XL106", "XL113", "XL205", "XL403")],
        ),
        Section(
            "Before training",
            [
                mixed,
                moved,
                *times[3:4],
                precision,
                parallel,
                _saved(evidence),
                largest_batch(evidence),
            ],
        ),
        Section("Training loop", [reset, history, state, tracked]),
        Section("Performance", [pooled, strided, chained, moved, precision]),
        Section("A slow step", times),
        Section("When debugging", [strided, mixed, _anomaly(evidence)]),
    ]
    return Diagnosis(symptoms(evidence), sections, evidence.modes)


def _grows(evidence: Evidence) -> Check:
    question = "Does a cell keep more with each run?"
    if evidence.growth:
        first = max(evidence.growth, key=lambda it: it.bytes)
        told = f"{evidence.verdict.name_of(first.cell)} kept {human_bytes(first.bytes)} in its last {first.runs} runs"
        return Check(question, "yes", told, "%memreport", None, first.cell)
    if not evidence.cells:
        return Check(question, "unknown", "no cell has ended yet", "run a cell")
    told = "no cell did so in three runs that follow on each other"
    return Check(question, "no", told, "%memreport")


def _fragmented(evidence: Evidence) -> Check:
    question = "Is memory reserved that no tensor has?"
    found = by_rules(question, ["XL604"], evidence)
    if found.answer != "no" or not evidence.devices:
        return found
    ratios = [
        f"{it.device}: {it.reserved / it.allocated:.1f} times what is allocated"
        for it in evidence.devices
        if it.reserved is not None and it.allocated
    ]
    told = (
        f"{', '.join(ratios) or 'nothing is allocated'}; {_FRAGMENTED} and more would be fragments"
    )
    return Check(question, "no", told, "%memreport", "XL604")


def _peaks(evidence: Evidence) -> Check:
    question = "Is a peak far above what stays?"
    profile = evidence.profile
    if profile is not None:
        parts = ", ".join(f"{it.name} {human_bytes(it.peak_bytes)}" for it in profile.phases)
        failed = f"; it failed in: {profile.failed_in}" if profile.failed_in else ""
        after = f"; {evidence.verdict.name_of(profile.cell)} by phase: {parts}{failed}"
    else:
        after = "; %%leakcheck --profile tells forward, backward and step apart"
    known = [(above, cell.index) for cell in evidence.cells for above in _above_end(cell)]
    if not known:
        return Check(question, "unknown", "no cell's peak is known", "%memreport")
    above, index = max(known)
    told = (
        f"that of {evidence.verdict.name_of(index)} stood {human_bytes(above)} above its end{after}"
    )
    answer: Answer = "yes" if above >= _LEAST_PEAK_BYTES else "no"
    return Check(question, answer, told, "%memreport", None, index)


def _above_end(cell: Cell) -> Iterator[int]:
    """By how much the peaks of a cell, of the process and of devices, stood above its end."""
    peak, end = cell.host.resident_peak_bytes, cell.host.resident_after_bytes
    if peak is not None and end is not None:
        yield peak - end
    record = _native.record(cell.index)
    for use in record.devices if record is not None else []:
        if use.allocated_peak_bytes is not None and use.allocated_bytes is not None:
            yield use.allocated_peak_bytes - use.allocated_bytes


def _saved(evidence: Evidence) -> Check:
    question = "Are most of the peak activations (checkpointing would pay)?"
    profile = evidence.profile
    share = profile.saved_share if profile is not None else None
    if profile is None or share is None:
        told = "no step was profiled"
        return Check(question, "unknown", told, "%%leakcheck --profile above the loop", "XL603")
    told = f"{share:.0%} of the peak of {evidence.verdict.name_of(profile.cell)} ({human_bytes(profile.saved_bytes)})"
    if share > _SAVED and profile.peak_bytes >= _LEAST_PEAK_BYTES:
        then = "torch.utils.checkpoint.checkpoint"
        return Check(question, "yes", told, then, "XL603", profile.cell)
    return Check(question, "no", told, NOTHING, "XL603", profile.cell)


def _anomaly(evidence: Evidence) -> Check:
    return by_rules("Is a debugging mode left on?", ["XL211"], evidence)
