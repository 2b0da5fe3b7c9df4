"""A verdict and its numbers are the same in each run of a notebook, however loaded the machine is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from notebook_files import notebook, report, run, written

MIB = 1 << 20
# Each leak is of another kind: the output cache, a list that grows in a function, a view, an exception.
CELLS = (
    "import numpy as np\nseen = []",
    "table = np.ones((1000, 1 << 10))\ntable",
    "del table",
    "def load(n):\n    batch = np.full(1 << 17, float(n))\n    seen.append(batch)\n    return batch.mean()",
    "means = [load(n) for n in range(12)]",
    "head = np.ones((1 << 21,))[:10]",
    "small = [np.ones(1 << 10) for _ in range(1000)]",
    "texts = [str(n) * 10 for n in range(100_000)]",
    "del small\nagain = np.ones(4 << 17)",
    "try:\n    rows = np.ones(3 << 20)\n    rows[0] / None\nexcept TypeError as error:\n    failed = error",
    "del rows",
    "np.ones(64 << 17).sum()",
    "print(means[0], again.mean(), len(texts))",
)


@contextmanager
def busy_loops() -> Iterator[None]:
    """Two processes that take all that they get of the processor."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Ten verdicts of one notebook, five of them beside two busy loops."""
    path = written(tmp_path_factory.mktemp("runs"), notebook(*CELLS))
    quiet = [verdict_of(path) for _ in range(5)]
    with busy_loops():
        return quiet + [verdict_of(path) for _ in range(5)]


def verdict_of(path: Path) -> Any:
    """As `xleak run` writes it."""
    return report(run(path, "--format", "json"))


def test_ten_verdicts_have_the_same_findings(runs: list[Any]) -> None:
    assert {found["code"] for found in runs[0]["findings"]} >= {"XL401", "XL118"}
    for other in runs[1:]:
        assert other["findings"] == runs[0]["findings"]


def test_what_a_cell_kept_is_the_same_in_ten_runs(runs: list[Any]) -> None:
    for cells in zip(*(one["cells"] for one in runs), strict=True):
        kept = [cell["host"]["kept_bytes"] for cell in cells]
        assert max(kept) - min(kept) < MIB, cells[0]["index"]


def test_it_counts_large_blocks_small_ones_and_python_s_objects(runs: list[Any]) -> None:
    kept = [cell["host"]["kept_bytes"] / MIB for cell in runs[0]["cells"]]
    # The first table that is shown has NumPy make what it prints with.
    assert 7.8 < kept[1] < 11
    assert kept[2:7] == pytest.approx([0, 0, 12, 16, 7.8], abs=0.3)
    # A text of 50 characters in a block of 112 bytes, and a list of their addresses.
    assert kept[7] == pytest.approx(100_000 * (112 + 8) / MIB, rel=0.05)
    # A thousand small arrays less, and one large more.
    assert kept[8] == pytest.approx(4 - 7.8, abs=0.3)
    assert kept[11] == pytest.approx(0, abs=0.1)
