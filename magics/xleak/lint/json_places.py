"""Where the values of a JSON document stand in its bytes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s"\[\]{},:]+')


@dataclass
class Place:
    """A value: `start` and `stop` in the bytes, and what is in it."""

    start: int
    stop: int
    members: dict[str, Place] | None = None
    """Of an object; of members with one name the last, which is the one that readers take."""
    items: list[Place] | None = None
    """Of a list."""
    name: str | None = None
    """Of an object that is being read: the member whose value comes."""

    def add(self, value: Place) -> None:
        """Takes a value that stands in this one."""
        if self.members is None:
            assert self.items is not None
            self.items.append(value)
        elif self.name is not None:
            self.members[self.name] = value


def places(data: bytes) -> Place:
    """The document as places. data: valid JSON, in Python's dialect of it too. Of any depth."""
    outside = Place(0, len(data), items=[])
    opened = [outside]
    for token in _TOKEN.finditer(data):
        text, top = token.group(), opened[-1]
        if text in (b"{", b"["):
            is_object = text == b"{"
            value = Place(token.start(), 0, {} if is_object else None, None if is_object else [])
            top.add(value)
            opened.append(value)
        elif text in (b"}", b"]"):
            opened.pop().stop = token.end()
        elif text == b",":
            top.name = None
        elif text != b":" and top.members is not None and top.name is None:
            top.name = json.loads(text)
        elif text != b":":
            top.add(Place(*token.span()))
    # A mark of byte order may stand before it.
    assert outside.items
    return outside.items[-1]


def text_of(data: bytes, place: Place) -> str | None:
    """The string there, None where there is something else."""
    quoted = data[place.start : place.stop]
    return json.loads(quoted) if quoted.startswith(b'"') else None
