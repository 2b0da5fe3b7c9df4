"""The examples of every smell that has a source half: `# lint: XLnnn` stands on each line that is
told, and no other line is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from xleak import _native, source

FOLDERS = Path(__file__).parents[2] / "monitor" / "smells"
SMELLS = {smell.code: smell for smell in _native.smells()}
MARK = re.compile(r"#\s*lint:\s*(XL\d{3}(?:[ ,]+XL\d{3})*)")
# Bad and good variants that a smell must show.
VARIANTS = 3


def examples(slug: str, quality: str) -> list[str]:
    return [str(path) for path in sorted((FOLDERS / slug).glob(f"{quality}*.py"))]


def marked(path: str) -> set[tuple[str, int]]:
    lines = Path(path).read_text().splitlines()
    return {
        (code, number)
        for number, line in enumerate(lines, 1)
        for marks in MARK.findall(line)
        for code in re.findall(r"XL\d{3}", marks)
    }


def told(path: str, own: str) -> set[tuple[str, int]]:
    """What is told of a file: all of the smell itself, of others what is more than a note."""
    (file,) = source.lint_files([path])
    assert file.problem is None
    return {
        (found.code, file.first_lines[found.cell - 1] + (found.line or 0) - 1)
        for found in file.report.findings
        if found.code == own or found.severity != "note"
    }


@pytest.fixture(
    params=sorted(code for code, smell in SMELLS.items() if smell.in_source),
)
def smell(request: pytest.FixtureRequest) -> _native.Smell:
    return SMELLS[request.param]


def test_every_line_that_is_marked_is_told_and_no_other(smell: _native.Smell) -> None:
    for path in examples(smell.slug, "bad") + examples(smell.slug, "good"):
        assert told(path, smell.code) == marked(path), path


def test_there_are_three_bad_variants_and_three_look_alikes(smell: _native.Smell) -> None:
    bad = [mark for path in examples(smell.slug, "bad") for mark in marked(path)]
    good = [
        cell
        for path in examples(smell.slug, "good")
        for cell in re.split(r"(?m)^(?=# %%)", Path(path).read_text())
        if cell.strip() and not MARK.search(cell)
    ]
    assert len([code for code, _ in bad if code == smell.code]) >= VARIANTS
    assert len(good) >= VARIANTS
