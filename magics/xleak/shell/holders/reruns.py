"""Cells that are run again."""

from __future__ import annotations

from collections.abc import Mapping

from xleak import _native


def code_of(source: str) -> str:
    """A cell's lines of code: two runs with the same ones are runs of one cell."""
    lines = [line.rstrip() for line in source.splitlines()]
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


def identity_of(cell: int, source: str) -> str:
    """What the runs of one cell have in common: the front end's id, or without one its code."""
    record = _native.record(cell)
    return (record and record.cell_id) or code_of(source)


def ran_before(cell: int, sources: Mapping[int, str]) -> bool:
    """Whether an earlier cell had the same code, comments between its lines aside."""
    code = code_of(sources.get(cell, ""))
    return any(code_of(text) == code for index, text in sources.items() if index < cell)
