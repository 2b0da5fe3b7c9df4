"""The notebooks that show xleak, run as a user runs them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from xleak.cli import main

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def verdicts(executed: Path) -> Iterator[list[str]]:
    """The codes that each `%leakcheck` showed, in the order of the cells."""
    for cell in json.loads(executed.read_text())["cells"]:
        if "".join(cell["source"]) == "%leakcheck":
            # A line that waited for the output of a cell stands on top.
            *_, shown = cell["outputs"]
            yield re.findall(r"(?m)^XL\d{3}", "".join(shown["data"]["text/plain"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("01_tour", ["XL401"]),
        ("02_leaks_and_fixes", ["XL102", "XL107", "XL404", "XL410", "XL405", "XL402"]),
    ],
)
def test_each_leak_is_told_until_it_is_repaired(
    name: str, found: list[str], tmp_path: Path
) -> None:
    executed = tmp_path / "executed.ipynb"
    source = str(NOTEBOOKS / f"{name}.ipynb")
    assert main(["run", source, "--save-executed", str(executed)]) == 0
    assert list(verdicts(executed)) == [told for code in found for told in ([code], [])]


@pytest.mark.slow
def test_a_notebook_that_runs_out_of_memory_goes_on_in_the_same_kernel(tmp_path: Path) -> None:
    executed, report = tmp_path / "executed.ipynb", tmp_path / "report.json"
    source = str(NOTEBOOKS / "03_out_of_memory.ipynb")
    options = ["--save-executed", str(executed), "--format", "json", "--output", str(report)]
    assert main(["run", source, *options]) == 0
    cells = {cell["index"]: cell for cell in json.loads(report.read_text())["cells"]}
    assert [at for at, cell in cells.items() if cell["status"] == "error"] == [3]
    told = cells[3]["postmortem"]
    assert told["asked_bytes"] == 500 << 20
    assert told["failing_cell_bytes"] >= 1000 << 20
    [again] = [it for it in json.loads(executed.read_text())["cells"] if it["id"] == "oom-again"]
    assert again["outputs"][0]["data"]["text/plain"] == [f"{200 * (1 << 17) * 3.0}"]
