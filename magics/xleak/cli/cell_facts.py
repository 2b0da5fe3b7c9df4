"""What is written into a notebook beside its cells: under the key `xleak` of a cell's metadata."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode

from xleak.cli.notebook import code_cells
from xleak.verdict import Cell, Verdict

KEY = "xleak"


def write_facts(notebook: NotebookNode, verdict: Verdict) -> None:
    """Puts the facts of each cell that ran into its metadata; what a run before left there goes."""
    for cell, told in zip(code_cells(notebook), verdict.cells, strict=True):
        cell.metadata.pop(KEY, None)
        if told.status in ("ok", "error") and not told.own:
            cell.metadata[KEY] = NotebookNode(_facts(told, verdict))


def _facts(cell: Cell, verdict: Verdict) -> dict[str, Any]:
    """Sizes in bytes, None where unknown. The findings are those whose cause the cell is; where
    that is not known, those that were there after it."""
    found = [it for it in verdict.findings if (it.cause_cell or it.cell) == cell.index]
    return {
        "kept_bytes": cell.host.grown_bytes,
        "peak_bytes": cell.host.resident_peak_bytes,
        "devices": [
            NotebookNode(
                device=it.device,
                kept_bytes=it.allocated_kept_bytes,
                peak_bytes=it.allocated_peak_bytes,
            )
            for it in cell.devices
        ],
        "findings": list(dict.fromkeys(it.code for it in found)),
    }
