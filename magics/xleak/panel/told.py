"""Which findings the panels were told of, and under which id."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xleak import _native
from xleak.originals import os
from xleak.panel.messages import Message
from xleak.panel.repairs import EditFix
from xleak.verdict import finding_shape

Repairs = Callable[[Sequence[_native.Finding]], dict[tuple[str, int], list[EditFix]]]


class ToldFindings:
    """Gives each finding an id that stays as long as it is there, and never comes again."""

    def __init__(
        self, dismissed: set[tuple[str, str]], repairs: Repairs = lambda known: {}
    ) -> None:
        """dismissed: of the session, by code and key. repairs: the edits of the source for reported
        findings, by code and cell."""
        self._repairs = repairs
        # An id from before a restart means nothing after it.
        self._prefix = os.urandom(4).hex()
        self._last = 0
        self._ids: dict[tuple[str, str], str] = {}
        self._dismissed = dismissed

    def all(self) -> list[Message]:
        """All that are known now, most bytes first, but those that were dismissed."""
        return self._shapes(self._known())

    def by_id(self) -> dict[str, _native.Finding]:
        """The same, as they are known."""
        return {self._id_of(it): it for it in self._known() if not self._is_dismissed(it)}

    def changes(
        self, judgement: _native.Judgement
    ) -> tuple[list[Message], list[Message], list[str]]:
        """(added, changed, ids of resolved ones) of a judgement, dismissed ones left out."""
        resolved = []
        for found in judgement.resolved:
            known = self._ids.pop((found.code, found.key), None)
            if known is not None:
                resolved.append(known)
        return self._shapes(judgement.added), self._shapes(judgement.changed), resolved

    def count(self) -> int:
        """How many there are, without notes and dismissed ones."""
        known = _native.findings()
        return sum(it.severity != "note" and not self._is_dismissed(it) for it in known)

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

    @property
    def dismissed(self) -> int:
        """How many of the current findings are dismissed."""
        return sum(map(self._is_dismissed, _native.findings()))

    def dismiss(self, found: _native.Finding) -> None:
        """The panels are not told of it any more."""
        self._dismissed.add((found.code, found.key))

    def show_dismissed(self) -> list[Message]:
        """Those that were dismissed; from now on they are reported again."""
        again = [it for it in self._known() if self._is_dismissed(it)]
        self._dismissed.clear()
        return self._shapes(again)

    def _is_dismissed(self, found: _native.Finding) -> bool:
        return (found.code, found.key) in self._dismissed

    def _known(self) -> list[_native.Finding]:
        """What is there, after the ids of what was resolved while nobody listened are forgotten."""
        known = _native.findings()
        here = {(found.code, found.key) for found in known}
        for gone in self._ids.keys() - here:
            del self._ids[gone]
        return known

    def _shapes(self, known: Sequence[_native.Finding]) -> list[Message]:
        told = [found for found in known if not self._is_dismissed(found)]
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
