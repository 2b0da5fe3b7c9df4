"""Which findings the panels were told of, and under which id."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from xleak import _native
from xleak.panel.messages import Message
from xleak.panel.repairs import EditFix
from xleak.verdict import finding_shape

Repairs = Callable[[Sequence[_native.Finding]], dict[tuple[str, int], list[EditFix]]]


class ToldFindings:
    """Gives each finding an id that stays as long as it is there, and never comes again."""

    def __init__(self, repairs: Repairs = lambda known: {}) -> None:
        """repairs: by code and cell the edits of the source for what is told."""
        self._repairs = repairs
        # An id from before a restart means nothing after it.
        self._prefix = os.urandom(4).hex()
        self._last = 0
        self._ids: dict[tuple[str, str], str] = {}
        self._dismissed: set[str] = set()

    def all(self) -> list[Message]:
        """All that are known now, most bytes first, but those that were dismissed."""
        return self._shapes(self._known())

    def by_id(self) -> dict[str, _native.Finding]:
        """The same, as they are known."""
        found = {self._id_of(found): found for found in self._known()}
        return {key: it for key, it in found.items() if key not in self._dismissed}

    def changes(
        self, judgement: _native.Judgement
    ) -> tuple[list[Message], list[Message], list[str]]:
        """(added, changed, ids of resolved ones) of a judgement, dismissed ones left out."""
        resolved = []
        for found in judgement.resolved:
            known = self._ids.pop((found.code, found.key), None)
            if known is not None and known not in self._dismissed:
                resolved.append(known)
            self._dismissed.discard(known or "")
        return self._shapes(judgement.added), self._shapes(judgement.changed), resolved

    def was_told(self, finding_id: str) -> bool:
        """Whether this session ever gave out the id."""
        prefix, _, number = finding_id.partition("-")
        return prefix == self._prefix and int(number) <= self._last

    def find(self, finding_id: str) -> _native.Finding | None:
        """The finding of an id as it is now; None where it is resolved."""
        for found in _native.findings():
            if self._ids.get((found.code, found.key)) == finding_id:
                return found
        return None

    def dismiss(self, finding_id: str) -> None:
        """The panels are not told of it any more."""
        self._dismissed.add(finding_id)

    def _known(self) -> list[_native.Finding]:
        """What is there, after the ids of what was resolved while nobody listened are forgotten."""
        known = _native.findings()
        here = {(found.code, found.key) for found in known}
        for gone in self._ids.keys() - here:
            self._dismissed.discard(self._ids.pop(gone))
        return known

    def _shapes(self, known: Sequence[_native.Finding]) -> list[Message]:
        told = [found for found in known if self._id_of(found) not in self._dismissed]
        repairs = self._repairs(told)
        return [self._shape(found, repairs) for found in told]

    def _shape(
        self, found: _native.Finding, repairs: dict[tuple[str, int], list[EditFix]]
    ) -> Message:
        shape = finding_shape(found)
        edits = repairs.get((found.code, shape["cause_cell"] or shape["cell"]), [])
        return {"id": self._id_of(found), **shape, "fixes": [*shape["fixes"], *edits]}

    def _id_of(self, found: _native.Finding) -> str:
        key = found.code, found.key
        if key not in self._ids:
            self._last += 1
            self._ids[key] = f"{self._prefix}-{self._last}"
        return self._ids[key]
