"""Training under torch's anomaly detection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.holders.counts import Counts, anomaly_is_on
from xleak.shell.holders.look import Look
from xleak.shell.holders.weights import weight_versions
from xleak.shell.own_ref import OwnRef

# Fewer are a check of one batch, for which the mode is made.
_LEAST_CHANGES = 10
_NAME = "torch.is_anomaly_enabled()"
_RELEASE = '__import__("torch").autograd.set_detect_anomaly(False);'


class TrainedUnderAnomaly:
    """Anomaly detection that is still on after cells in which weights changed often, by their own
    counters of changes in place."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._seen: dict[int, tuple[OwnRef[object], int]] = {}
        self._seen_after = 0
        self._since: int | None = None
        self._most = 0

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One, with how often the weight changed that changed most."""
        versions = list(weight_versions(look.live))
        if anomaly_is_on():
            self._count(versions, look)
        else:
            self._since, self._most = None, 0
        self._seen = {id(it): (OwnRef(it), version) for it, version in versions}
        self._seen_after = look.cell
        if self._most >= _LEAST_CHANGES:
            yield _native.Holder(
                "anomaly mode", _NAME, 0, self._since, "weights", self._most, _RELEASE
            )

    def _count(self, versions: list[tuple[Any, int]], look: Look) -> None:
        # What changed while no cell trained is known from any look before.
        trained_before = max((it for it in self._counts.recorded if it < look.cell), default=0)
        known = self._since is not None or self._seen_after >= trained_before
        self._since = self._since or look.cell
        for weight, version in versions:
            ref, before = self._seen.get(id(weight), (None, 0))
            if known and ref is not None and ref() is weight:
                self._most = max(self._most, version - before)
            elif not trained_before:
                self._most = max(self._most, version)
