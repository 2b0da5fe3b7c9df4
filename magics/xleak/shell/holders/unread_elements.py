"""Elements of one list of which cells read the first or the last alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.containers import is_code_or_data
from xleak.shell.holders.large_places import Place, large_places
from xleak.shell.holders.look import LEAST_BYTES, REPORTED_BYTES, Look
from xleak.shell.holders.part_uses import Cell, Step, code_in, uses_in
from xleak.shell.source import parsed

# Fewer may be meant for a use that no cell shows yet.
_SEVERAL = 3
_MOST = 2000


class UnreadElements(AtVerdict):
    """A list that a loop filled, and of which the rest is never read."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each list."""
        cells: dict[int, Cell] = {}
        code: dict[str, ast.AST] = {}
        for place in large_places(look, is_asked):
            kept = _kept(look, place)
            if sum(it >= LEAST_BYTES for it in kept) < _SEVERAL:
                continue
            if not cells:
                cells = {at: (text, parsed(text)) for at, text in look.sources.items()}
                code = {its: it for _, tree in cells.values() if tree for its, it in code_in(tree)}
            made = max((cell for cell, _, _ in place.births), default=0)
            later = [cell for at, cell in cells.items() if at > made]
            holder = _holder(look, place, kept, later, code)
            if holder is not None:
                yield holder


def _kept(look: Look, place: Place) -> list[int]:
    """What each element of a list of data keeps alone, in bytes; 0 for an object, which is asked part by part."""
    if not _native.is_exactly(place.value, (list,)):
        return []
    elements = _native.values_of(place.value, 0, _MOST)
    return [
        look.heap.retained_by(it)
        if (is_code_or_data(it) or _native.is_kind_of(it, (dict,))) and place.is_alone(look, it)
        else 0
        for it in (elements if len(elements) < _MOST else ())
    ]


def _holder(
    look: Look,
    place: Place,
    kept: Sequence[int],
    later: Sequence[Cell],
    code: Mapping[str, ast.AST],
) -> _native.Holder | None:
    count = len(kept)
    for kept_place in (-1, 0):
        read = {kept_place, kept_place + count if kept_place < 0 else -count}
        rest = {at for at in range(-count, count) if at not in read}
        if _is_reached(place, rest, later, code) or not _is_reached(place, read, later, code):
            continue
        others = kept[:-1] if kept_place < 0 else kept[1:]
        large = [it for it in others if it >= LEAST_BYTES]
        if len(large) < _SEVERAL or sum(large) < REPORTED_BYTES:
            continue
        cause = cause_of(look.watcher.shell, place.births)
        part = "[:-1]" if kept_place < 0 else "[1:]"
        return _native.Holder(
            "unread elements",
            place.label,
            sum(large),
            cause.cell if cause else None,
            f"{place.label}[{kept_place}]",
            len(large),
            f"del {place.label}{part}",
            line=cause.line if cause else None,
        )
    return None


def _is_reached(
    place: Place, numbers: set[int], later: Sequence[Cell], code: Mapping[str, ast.AST]
) -> bool:
    steps = [*place.steps, Step("places", frozenset(numbers))]
    uses = uses_in(later, place.name, steps, code)
    return uses.reached or uses.anything
