"""Repairs of the source for what was measured, as edits that a front end can make in its cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.magics.suspicions import source_of_session
from xleak.verdict import build

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

EditFix = dict[str, Any]


def repairs(
    shell: InteractiveShell, known: Sequence[_native.Finding]
) -> dict[tuple[str, int], list[EditFix]]:
    """By the code of a finding and the cell with the guilty line what the same rule would edit there.

    Nothing is read where nothing is known.
    """
    if not known:
        return {}
    found: dict[tuple[str, int], list[EditFix]] = {}
    for index, told in source_of_session(shell, build(_native.records(), ())).findings:
        edits = [
            _shape(fix, index)
            for fix in told.fixes
            if fix.edits and all(edit.cell == told.cell for edit in fix.edits)
        ]
        found.setdefault((told.code, index), []).extend(edits)
    return found


def _shape(fix: _native.Fix, index: int) -> EditFix:
    """A fix of kind edit of xleak.verdict/1. Positions are bytes of the cell's source as UTF-8."""
    edits = [{"start": it.start, "stop": it.stop, "text": it.text} for it in fix.edits]
    return {"kind": "edit", "title": fix.title, "cell": index, "edits": edits}
