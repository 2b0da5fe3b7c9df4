"""Verdicts written by hand, for tests that show them."""

from __future__ import annotations

from typing import Any

from xleak.verdict import Cell, Device, Finding, Fix, Host, Source, Verdict, assemble

MIB = 1 << 20


def cell(index: int, before: int | None = 0, after: int | None = 0, **more: Any) -> Cell:
    """A cell that ran between two resident sizes in MiB, with its peak at the higher."""
    low = None if before is None else before * MIB
    high = None if after is None else after * MIB
    peak = None if low is None or high is None else max(low, high)
    fields = {"status": "ok", "seconds": 0.5, "execution_count": index, **more}
    return Cell(index=index, host=Host(low, high, peak), **fields)


def finding(**more: Any) -> Finding:
    """A measured warning of 64 MiB in Out[2], caused by cell 2."""
    fields: dict[str, Any] = {
        "code": "XL401",
        "slug": "big_value_in_output_cache",
        "severity": "warning",
        "basis": "measured",
        "cell": 3,
        "cause_cell": 2,
        "line": 1,
        "bytes": 64 * MIB,
        "name": None,
        "holders": ["Out[2]"],
        "path": ["Out", "[2]", "Tensor"],
        "message": "Out[2] alone keeps 64 MiB alive.",
        "fixes": [Fix("Release it", "%xdel Out[2]")],
        **more,
    }
    return Finding(**fields)


def verdict(
    cells: list[Cell], findings: list[Finding] | None = None, path: str | None = "nb.ipynb"
) -> Verdict:
    """A verdict with its totals."""
    return assemble(Source(path, "python", {"xleak": "0", "python": "3"}), cells, findings or [])


GPU = Device("cuda:0", 5 * MIB, None, 8 * MIB)
