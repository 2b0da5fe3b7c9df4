"""What a cell is called wherever somebody reads of it: by the number that its notebook shows."""

from __future__ import annotations

from collections.abc import Callable

# What the cell of an index is called.
Naming = Callable[[int], str]


def cell_name(index: int, execution_count: int | None) -> str:
    """`cell 7` for In[7]; `run 3`, by the order of execution, for a cell that has no such number."""
    return f"cell {execution_count}" if execution_count else f"run {index}"


def name_of_run(index: int) -> str:
    """The same of a cell of this process."""
    from xleak import _native

    record = _native.record(index)
    return cell_name(index, record.execution_count if record else None)
