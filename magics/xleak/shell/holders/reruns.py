"""Cells that are run anew."""

from __future__ import annotations

import re
from collections.abc import Mapping

_COMMENT_OR_SPACE = re.compile(r"#.*|\s+")


def ran_before(cell: int, sources: Mapping[int, str]) -> bool:
    """Whether an earlier cell had the same code, comments and spaces aside."""
    code = _code(sources.get(cell, ""))
    return any(_code(text) == code for index, text in sources.items() if index < cell)


def _code(source: str) -> str:
    return _COMMENT_OR_SPACE.sub("", source)
