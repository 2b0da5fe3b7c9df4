"""What the source of the session's cells says, beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

from xleak import _native, source
from xleak.cell_names import name_of_run
from xleak.magics.live import cell_sources
from xleak.render import table
from xleak.verdict import Verdict


@dataclass(frozen=True)
class Suspicion:
    """A line of the session that no measurement confirms."""

    where: str
    """The cell, or the file that the cells import."""
    found: _native.Finding
    refuted: bool
    """The rule measures too, and saw nothing of it."""


@dataclass(frozen=True)
class SourceOfSession:
    """What the cells say as they stand, and the files of the working folder that they import."""

    findings: list[tuple[int, _native.Finding]]
    """By the index of the cell."""
    of_files: list[tuple[str, _native.Finding]]
    """By the path of the file, from the working folder."""

    def confirming(self, measured: Verdict) -> Verdict:
        """The verdict, with the guilty line of what the source says too."""
        lines: dict[tuple[str, int | None], int | None] = {
            (found.code, cell): found.line for cell, found in reversed(self.findings)
        }
        return replace(
            measured,
            findings=[
                replace(
                    it, line=lines.get((it.code, it.cause_cell)) if it.line is None else it.line
                )
                for it in measured.findings
            ],
        )

    def unconfirmed(self, measured: Verdict) -> list[Suspicion]:
        """What the source says and no measurement does, in the order of the cells."""
        confirmed = {
            (it.code, cell) for it in measured.findings for cell in (it.cell, it.cause_cell)
        }
        measuring = {smell.code for smell in _native.smells() if smell.at_run_time}
        told = [
            (name_of_run(cell), found)
            for cell, found in self.findings
            if (found.code, cell) not in confirmed
        ]
        return [
            Suspicion(where, found, found.code in measuring)
            for where, found in [*told, *self.of_files]
        ]


def source_of_session(shell: InteractiveShell, verdict: Verdict) -> SourceOfSession:
    """Reads the cells that ran; of one that ran again, what it was last. Files are read again each
    time, so %autoreload is followed."""
    texts = _latest(cell_sources(shell, verdict), verdict)
    indexes = list(texts)
    read = source.lint_cells(list(texts.values()))
    return SourceOfSession(
        [(indexes[it.cell - 1], it) for it in read.report.findings],
        [(str(Path(file.path)), it) for file in read.modules for it in file.report.findings],
    )


def _latest(sources: Mapping[int, str], verdict: Verdict) -> dict[int, str]:
    # A shell that gives its cells no id tells them apart by what they are.
    runs = {
        cell.cell_id or sources[cell.index]: cell.index
        for cell in verdict.cells
        if cell.index in sources
    }
    return {index: sources[index] for index in sorted(runs.values())}


def listed(suspicions: list[Suspicion]) -> str:
    """The suspicions as text; says so where there is none."""
    if not suspicions:
        return "The source says nothing that was not measured."
    return "\n".join(["Read from the source and not confirmed:", *map(_line, suspicions)])


def _line(suspicion: Suspicion) -> str:
    found = suspicion.found
    known = "not seen in memory" if suspicion.refuted else "not measured"
    return (
        f"  {found.code} {table.printable(suspicion.where)}, line {found.line} ({known}): "
        f"{table.printable(found.message)}"
    )
