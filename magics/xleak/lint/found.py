"""Findings of files, as every form of the report shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from xleak import _native, source
from xleak.lint.settings import Settings
from xleak.verdict import Severity


@dataclass(frozen=True)
class Found:
    """One finding and where it is; `line` counts in the file, in a notebook in the cell."""

    path: str
    cell: int | None
    """The code cell of a notebook, from 1; None for a script."""
    line: int
    column: int
    source_line: str
    finding: _native.Finding

    @property
    def code(self) -> str:
        return self.finding.code

    @property
    def severity(self) -> Severity:
        return self.finding.severity


@dataclass(frozen=True)
class UnusedIgnore:
    """A remark that kept nothing quiet."""

    path: str
    cell: int | None
    line: int
    text: str


@dataclass(frozen=True)
class Report:
    """What one run of the linter says."""

    files: int
    found: list[Found]
    unused: list[UnusedIgnore]
    problems: list[str]
    """Why files were not read, in a sentence each."""

    def counts(self) -> Counter[str]:
        """Findings by code."""
        return Counter(it.code for it in self.found)


def look(paths: Sequence[str], settings: Settings, threads: int, notes: bool) -> Report:
    """Lints the files. Notes are left out unless they are asked for."""
    files = source.lint_files(paths, threads)
    found = [
        it
        for file in files
        for it in _located(file)
        if settings.tells(it.code, file.path) and (notes or it.severity != "note")
    ]
    problems = [file.problem for file in files if file.problem is not None]
    return Report(len(files), found, [it for file in files for it in _unused(file)], problems)


def _located(file: _native.LintedFile) -> list[Found]:
    return [_found(file, finding) for finding in file.report.findings]


def _found(file: _native.LintedFile, finding: _native.Finding) -> Found:
    line = finding.line or 1
    text = _text(file, finding.cell, line)
    # The engine counts bytes, editors count characters.
    before = text.encode()[: finding.column - 1].decode(errors="ignore")
    return Found(
        file.path,
        finding.cell if file.is_notebook else None,
        _line(file, finding.cell, line),
        len(before) + 1,
        text,
        finding,
    )


def _unused(file: _native.LintedFile) -> list[UnusedIgnore]:
    return [
        UnusedIgnore(
            file.path,
            it.cell if file.is_notebook else None,
            _line(file, it.cell, max(1, it.line)),
            it.text,
        )
        for it in file.report.unused
    ]


def _line(file: _native.LintedFile, cell: int, line: int) -> int:
    return file.first_lines[cell - 1] + line - 1


def _text(file: _native.LintedFile, cell: int, line: int) -> str:
    lines = file.sources[cell - 1].split("\n")
    return lines[line - 1].rstrip() if line <= len(lines) else ""
