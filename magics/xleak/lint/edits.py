"""Edits of a file: what a fix changes, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from xleak import _native

_MARK_OF_BYTES = b"\xef\xbb\xbf"
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s"\[\]{},:]+')


# Cells of format 4 are a member of the notebook, those of format 3 of its worksheets.
_DEPTHS = (2, 4)


@dataclass(frozen=True)
class Source:
    """Where the source of a code cell stands in the bytes of its notebook."""

    start: int
    stop: int
    strings: tuple[tuple[int, int], ...]
    """Its lines where it is a list of strings, else itself."""


def applied(text: bytes, edits: Iterable[_native.Edit]) -> bytes:
    """A cell's text with the edits made. What would overlap an earlier one is left out."""
    result, at = bytearray(), 0
    for edit in sorted(set((it.start, it.stop, it.text) for it in edits)):
        start, stop, new = edit
        if start < at:
            continue
        result += text[at:start] + new.encode()
        at = stop
    return bytes(result + text[at:])


def script(data: bytes, edits: Mapping[int, list[_native.Edit]], first_lines: list[int]) -> bytes:
    """A script with the edits of its cells made."""
    shift = len(_MARK_OF_BYTES) if data.startswith(_MARK_OF_BYTES) else 0
    lines = [shift]
    for match in re.finditer(rb"\n", data):
        lines.append(match.end())
    starts = [lines[first - 1] for first in first_lines]
    result = data
    for cell in sorted(edits, reverse=True):
        start = starts[cell - 1]
        result = result[:start] + applied(result[start:], edits[cell])
    return result


def notebook(data: bytes, edits: Mapping[int, list[_native.Edit]]) -> bytes:
    """A notebook with the edits of its code cells made; lines that stay keep their bytes."""
    result = data
    cells = list(enumerate(_sources(data), start=1))
    for cell, source in reversed(cells):
        if cell in edits:
            result = (
                result[: source.start] + _edited(data, source, edits[cell]) + result[source.stop :]
            )
    return result


def _edited(data: bytes, source: Source, edits: list[_native.Edit]) -> bytes:
    old = [json.loads(data[start:stop]) for start, stop in source.strings]
    new = applied("".join(old).encode(), edits).decode()
    quoted = data[source.start : source.stop]
    if not quoted.startswith(b"["):
        return _string(new, quoted)
    lines = new.splitlines(keepends=True)
    if len(lines) != len(old):
        return _rewritten(data, source, lines)
    result, at = bytearray(), source.start
    for (start, stop), before, after in zip(source.strings, old, lines, strict=True):
        result += data[at:start]
        result += data[start:stop] if before == after else _string(after, data[start:stop])
        at = stop
    return bytes(result + data[at : source.stop])


def _rewritten(data: bytes, source: Source, lines: list[str]) -> bytes:
    (first, _), *_rest = source.strings
    opening = data[source.start : first]
    closing = data[source.strings[-1][1] : source.stop]
    like = data[source.start : source.stop]
    between = b"," + opening[1:]
    return opening + between.join(_string(line, like) for line in lines) + closing


def _string(text: str, like: bytes) -> bytes:
    """JSON of a text, with letters spelled as the notebook spells them."""
    return json.dumps(text, ensure_ascii=b"\\u" in like and like.isascii()).encode()


def _sources(data: bytes) -> Iterator[Source]:
    """The sources of a notebook's code cells, in its order. The notebook is valid JSON."""
    for members in _cells(data):
        kind = members.get("cell_type")
        source = members.get("source", members.get("input"))
        if kind is not None and source is not None and data[kind.start : kind.stop] == b'"code"':
            yield source


@dataclass
class _Open:
    """A bracket of JSON that is not closed yet."""

    bracket: bytes
    start: int
    is_cell: bool
    name: str | None = None
    """Of an object: the member whose value comes."""
    members: dict[str, Source] = field(default_factory=dict)
    values: list[tuple[int, int]] = field(default_factory=list)
    """Of a list: what stands in it and is no bracket."""


def _cells(data: bytes) -> Iterator[dict[str, Source]]:
    """The members of each cell: of every object in a list that is called `cells`."""
    opened: list[_Open] = []
    for token in _TOKEN.finditer(data):
        text, top = token.group(), opened[-1] if opened else None
        if text in (b"{", b"["):
            in_cells = len(opened) in _DEPTHS and opened[-2].name == "cells"
            opened.append(_Open(text, token.start(), text == b"{" and in_cells))
        elif text in (b"}", b"]"):
            closed = opened.pop()
            if closed.is_cell:
                yield closed.members
            _value(opened, Source(closed.start, token.end(), tuple(closed.values)))
        elif text == b"," and top is not None:
            top.name = None
        elif text != b":" and top is not None:
            if top.bracket == b"{" and top.name is None:
                top.name = json.loads(text)
                continue
            top.values.append(token.span())
            _value(opened, Source(*token.span(), (token.span(),)))


def _value(opened: list[_Open], source: Source) -> None:
    if opened and opened[-1].name is not None:
        opened[-1].members[opened[-1].name] = source
