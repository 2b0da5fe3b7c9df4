"""Every smell's own examples; `# expect: XLnnn` stands on the cell after which it is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from shells import Session

SMELLS = sorted(
    folder
    for folder in (Path(__file__).parents[2] / "monitor" / "smells").iterdir()
    if folder.is_dir()
)
EXPECT = re.compile(r"#\s*expect:\s*(XL\d{3})")


# On the first line of an example that only a card can show; tests/kernel runs those.
NEEDS_GPU = "# needs: gpu"
SMELLS = [it for it in SMELLS if not (it / "bad.py").read_text().startswith(NEEDS_GPU)]


def cells(script: Path) -> list[str]:
    """Split a percent-format script into the cells a notebook would have."""
    return [cell for cell in re.split(r"(?m)^(?=# %%)", script.read_text()) if cell.strip()]


def expected(script: Path) -> list[tuple[str, int]]:
    return [(code, n) for n, cell in enumerate(cells(script), 1) for code in EXPECT.findall(cell)]


@pytest.mark.parametrize("smell", SMELLS, ids=lambda path: path.name)
def test_bad_example_is_reported_where_it_says(smell: Path, session: Session) -> None:
    assert session.new_findings(cells(smell / "bad.py")) == expected(smell / "bad.py")


@pytest.mark.parametrize("smell", SMELLS, ids=lambda path: path.name)
def test_good_example_is_quiet(smell: Path, session: Session) -> None:
    assert session.new_findings(cells(smell / "good.py")) == []
