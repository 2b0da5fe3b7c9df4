"""Examples of smells where IPython's events drive the watcher; `# expect: XLnnn` stands on the cell after
which it is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from shells import Session

# The kernel's tests run the examples of all smells, each in a process of its own. Here one for each way to
# a finding: the output cache, an error, a name's graph, a history of runs, a count.
SMELLS = [
    Path(__file__).parents[2] / "monitor" / "smells" / slug
    for slug in (
        "big_value_in_output_cache",
        "traceback_pins_frames",
        "running_loss_with_graph",
        "growing_global_registry",
        "handler_added_on_rerun",
    )
]
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
