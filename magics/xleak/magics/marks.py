"""Marks: a first line such as `%%leakcheck --profile` that has a cell watched more closely. The cell runs as
any other; the line is taken away before IPython reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import takewhile

# What ends the watching in the middle of a cell, so that nobody would end what was begun for it.
_STOPS_WATCHING = re.compile(r"policy\s+off|\b(?:un|re)load_ext\b|\.policy\s*=")

# Whether what follows the magic makes its line a mark.
IsMark = Callable[[str], bool]


def arguments_of(source: str, magic: str) -> str | None:
    """What follows `magic` among the cell magics that a cell starts with; None without it."""
    if magic not in source:
        return None
    lines = source.lstrip().splitlines()
    for line in takewhile(lambda line: line.startswith("%%"), lines):
        name, _, arguments = line.rstrip().partition(" ")
        if name == magic:
            return arguments.strip()
    return None


def stops_watching(source: str) -> bool:
    """Whether a cell may switch xleak off while it runs."""
    return bool(_STOPS_WATCHING.search(source))


def without(lines: list[str], magic: str, is_mark: IsMark) -> list[str]:
    """A cell without its mark, with line numbers kept. is_mark: of the arguments behind the magic."""
    name, _, arguments = lines[0].rstrip().partition(" ") if lines else ("", "", "")
    if name != magic or not is_mark(arguments.strip()):
        return lines
    body = lines[1:]
    # Another cell magic below must come first to be seen as one.
    return body if body and body[0].startswith("%%") else ["\n", *body]
