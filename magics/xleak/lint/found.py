"""Findings of files, as every form of the report shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from xleak import _native, source, syntax
from xleak.lint.settings import Settings
from xleak.verdict import Severity

# Not a rule: no selection turns it off.
INVALID_SYNTAX = "invalid-syntax"


@dataclass(frozen=True)
class Spot:
    """A line of a file; `line` counts in the file, in a notebook in the cell."""

    path: str
    in_notebook: bool
    cell: int | None
    """The code cell, from 1; None for a script without `# %%` lines."""
    line: int


@dataclass(frozen=True)
class Found:
    """One finding and where it is."""

    spot: Spot
    column: int
    source_line: str
    code: str
    slug: str
    severity: Severity
    message: str
    fixes: Sequence[_native.Fix] = ()


@dataclass(frozen=True)
class UnusedIgnore:
    """A remark that kept nothing quiet."""

    spot: Spot
    text: str


@dataclass(frozen=True)
class Report:
    """What one run of the linter says."""

    files: int
    found: list[Found]
    unused: list[UnusedIgnore]
    problems: list[str]
    """Why files were not read, or not completely, in a sentence each."""

    def counts(self) -> Counter[str]:
        """Findings by code."""
        return Counter(it.code for it in self.found)


def look(paths: Sequence[str], settings: Settings, threads: int, notes: bool) -> Report:
    """Lints the files. Notes are left out unless they are asked for."""
    files = source.lint_files(paths, threads)
    found: list[Found] = []
    problems = [file.problem for file in files if file.problem is not None]
    for file in files:
        refused = syntax.refusals(file)
        problems += syntax.unread(file, refused)
        told = [
            _found(file, it)
            for it in file.report.findings
            if settings.tells(it.code, file.path) and (notes or it.severity != "note")
        ]
        found += sorted(
            [*(_refused(file, it) for it in refused), *told],
            key=lambda it: (it.spot.cell or 0, it.spot.line, it.column),
        )
    return Report(len(files), found, [it for file in files for it in _unused(file)], problems)


def spot(file: _native.LintedFile, cell: int, line: int) -> Spot:
    """Where a line of a cell is."""
    first = file.first_lines[cell - 1]
    return Spot(file.path, file.is_notebook, cell if file.has_cells else None, first + line - 1)


def _found(file: _native.LintedFile, finding: _native.Finding) -> Found:
    line = finding.line or 1
    text = _text(file, finding.cell, line)
    # The engine counts bytes, editors count characters.
    before = text.encode()[: finding.column - 1].decode(errors="ignore")
    return Found(
        spot(file, finding.cell, line),
        len(before) + 1,
        text,
        finding.code,
        finding.slug,
        finding.severity,
        finding.message,
        [fix for fix in finding.fixes if fix.edits],
    )


def _refused(file: _native.LintedFile, it: syntax.Refusal) -> Found:
    return Found(
        spot(file, it.cell, it.line),
        it.column,
        _text(file, it.cell, it.line),
        INVALID_SYNTAX,
        INVALID_SYNTAX.replace("-", "_"),
        "error",
        it.sentence,
    )


def _unused(file: _native.LintedFile) -> list[UnusedIgnore]:
    return [
        UnusedIgnore(spot(file, it.cell, max(1, it.line)), it.text) for it in file.report.unused
    ]


def _text(file: _native.LintedFile, cell: int, line: int) -> str:
    lines = file.sources[cell - 1].split("\n")
    return lines[line - 1].rstrip() if line <= len(lines) else ""
