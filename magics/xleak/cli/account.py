"""Joins what the kernel told with the notebook: its cells by their number there, run or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from nbformat import NotebookNode

from xleak import verdict
from xleak.cli.notebook import code_cells
from xleak.postmortem import Postmortem
from xleak.verdict import Cell, CellStatus, Failure, Finding, Source, Verdict


def joined(
    path: str,
    notebook: NotebookNode,
    told: Verdict | None,
    statuses: Mapping[int, CellStatus],
    failure: Failure | None,
) -> Verdict:
    """The verdict on a notebook. `told`: by the kernel, with cells in the order they ran there."""
    cells = code_cells(notebook)
    numbers = _numbers(cells, told.cells if told else [])
    measured = (
        {numbers[cell.index]: cell for cell in told.cells if cell.index in numbers} if told else {}
    )
    versions = told.source.versions if told else {"xleak": verdict.versions()["xleak"]}
    return verdict.assemble(
        Source(path, "python", versions),
        [
            _cell(number, cell, measured.get(number), statuses.get(number, "not_run"), numbers)
            for number, cell in enumerate(cells, start=1)
        ],
        [_renumbered(finding, numbers) for finding in told.findings] if told else [],
        failure,
        told.devices if told else [],
        told.names if told else [],
        told.account if told else None,
    )


def _numbers(cells: list[NotebookNode], told: list[Cell]) -> dict[int, int]:
    """The number in the notebook of each cell that the kernel told of, by the kernel's index."""
    by_id = {cell.id: number for number, cell in enumerate(cells, start=1)}
    # A kernel that drops the id still counts the prompts as the notebook shows them.
    by_count = {
        cell.execution_count: number
        for number, cell in enumerate(cells, start=1)
        if cell.execution_count is not None
    }
    found = {
        cell.index: by_id.get(cell.cell_id) if cell.cell_id else by_count.get(cell.execution_count)
        for cell in told
    }
    return {index: number for index, number in found.items() if number is not None}


def _cell(
    number: int,
    cell: NotebookNode,
    told: Cell | None,
    status: CellStatus,
    numbers: Mapping[int, int],
) -> Cell:
    if told is None:
        return Cell(number, cell.id, cell.execution_count, status)
    postmortem = told.postmortem and _renumbered_postmortem(told.postmortem, numbers)
    return replace(told, index=number, cell_id=cell.id, postmortem=postmortem)


def _renumbered_postmortem(told: Postmortem, numbers: Mapping[int, int]) -> Postmortem:
    return replace(
        told,
        cells=[replace(it, index=numbers[it.index]) for it in told.cells if it.index in numbers],
    )


def _renumbered(finding: Finding, numbers: Mapping[int, int]) -> Finding:
    cause = finding.cause_cell
    return replace(
        finding,
        cell=numbers.get(finding.cell, finding.cell),
        cause_cell=None if cause is None else numbers.get(cause),
    )
