"""Edits of a file: what a fix changes, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from xleak import _native
from xleak.lint.json_places import Place, places, text_of

_MARK_OF_BYTES = b"\xef\xbb\xbf"
# One character within a string of JSON: a pair of escapes, an escape, or itself in UTF-8.
_SPELLED = re.compile(
    rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[\x00-\x7f]|[\xc0-\xff][\x80-\xbf]*",
    re.DOTALL,
)
# The engine reads it in place of half of a surrogate pair, so it may not be written.
_REPLACEMENT = "\ufffd"

# A character, and the bytes that spell it in the file.
_Sign = tuple[str, bytes]


def applied(text: bytes, edits: Iterable[_native.Edit]) -> bytes:
    """A cell's text with the edits made. What would overlap an earlier one is left out."""
    result, at = bytearray(), 0
    for start, stop, new in _in_order(edits):
        result += text[at:start] + new.encode()
        at = stop
    return bytes(result + text[at:])


def _in_order(edits: Iterable[_native.Edit]) -> Iterator[tuple[int, int, str]]:
    at = 0
    for start, stop, new in sorted({(it.start, it.stop, it.text) for it in edits}):
        if start >= at:
            yield start, stop, new
            at = stop


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
    """A notebook with the edits of its code cells made; all else keeps its bytes."""
    result = data
    cells = list(enumerate(_sources(data), start=1))
    for cell, source in reversed(cells):
        if cell in edits and source is not None:
            edited = _edited(data, source, edits[cell])
            result = result[: source.start] + edited + result[source.stop :]
    return result


def _sources(data: bytes) -> Iterator[Place | None]:
    """The source of each code cell, as the engine counts them; None where one has none."""
    document = places(data).members or {}
    if "cells" in document:
        # Of format 4; format 3 has them in worksheets.
        sheets = [document]
    else:
        sheets = [sheet.members or {} for sheet in document["worksheets"].items or []]
    for sheet in sheets:
        cells = sheet["cells"].items if "cells" in sheet else None
        for cell in cells or []:
            members = cell.members or {}
            if "cell_type" in members and text_of(data, members["cell_type"]) == "code":
                yield members.get("source", members.get("input"))


def _edited(data: bytes, source: Place, edits: list[_native.Edit]) -> bytes:
    """The source as bytes of the file; it is a string or a list of them."""
    as_it_is = data[source.start : source.stop]
    parts = [source] if source.items is None else source.items
    strings = [it for it in parts if data[it.start : it.start + 1] == b'"']
    signs = [sign for it in strings for sign in _signs(data[it.start + 1 : it.stop - 1])]
    ascii_only = b"\\u" in as_it_is and as_it_is.isascii()
    made = _made(signs, edits, ascii_only)
    if made == signs:
        return as_it_is
    lines = _lines(made)
    if source.items is None:
        return b'"' + b"".join(lines) + b'"'
    if len(lines) == len(strings):
        return _in_place(data, source, strings, lines)
    # A list with something else in it is no source that anybody reads.
    return _rewritten(data, source, lines) if strings == parts else as_it_is


def _signs(quoted: bytes) -> Iterator[_Sign]:
    for spelled in _SPELLED.findall(quoted):
        if spelled.startswith(b"\\"):
            yield json.loads(b'"' + spelled + b'"'), spelled
        else:
            yield spelled.decode(), spelled


def _made(signs: list[_Sign], edits: list[_native.Edit], ascii_only: bool) -> list[_Sign]:
    """The signs of the source once the edits are made, which count in bytes of UTF-8."""
    sizes = (len(sign.encode("utf-8", "surrogatepass")) for sign, _ in signs)
    number = {offset: at for at, offset in enumerate(accumulate(sizes, initial=0))}
    result = list(signs)
    for start, stop, new in reversed(list(_in_order(edits))):
        if _REPLACEMENT not in new:
            spelled = [(it, json.dumps(it, ensure_ascii=ascii_only)[1:-1].encode()) for it in new]
            result[number[start] : number[stop]] = spelled
    return result


def _lines(signs: list[_Sign]) -> list[bytes]:
    """Its lines, with their ends, as notebooks cut them."""
    lines, at = [], 0
    for line in "".join(sign for sign, _ in signs).splitlines(keepends=True):
        lines.append(b"".join(spelled for _, spelled in signs[at : at + len(line)]))
        at += len(line)
    return lines


def _in_place(data: bytes, source: Place, strings: list[Place], lines: list[bytes]) -> bytes:
    result, at = bytearray(), source.start
    for string, line in zip(strings, lines, strict=True):
        result += data[at : string.start] + b'"' + line + b'"'
        at = string.stop
    return bytes(result + data[at : source.stop])


def _rewritten(data: bytes, source: Place, lines: list[bytes]) -> bytes:
    """With as much room between the lines as before the first."""
    assert source.items
    opening = data[source.start : source.items[0].start]
    closing = data[source.items[-1].stop : source.stop]
    between = b"," + opening[1:]
    return opening + between.join(b'"' + line + b'"' for line in lines) + closing
