"""Notebooks in the JSON that Python's json module reads and writes, which is more than JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from notebook_files import notebook, report, run, written
from test_lint import LEAK, MODEL
from test_lint import notebook as text_of_notebook
from xleak.cli import main

FIXED = LEAK.replace(".mean()", ".mean().detach()")

# Each as it may stand in an output or in metadata. Python reads all of them.
VALUES = ["NaN", "Infinity", "-Infinity", "1e999", "-1E+400", "9" * 400, "9" * 400 + ".5"]
HALVES = [r"\ud83d", r"\uDE00", r"\ude00\ud83d", r"\ud83d\ud83d\ude00", r"\ud83dx"]


def found(path: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, int, int]]:
    assert main(["lint", "--format", "json", str(path)]) == 1
    shape = json.loads(capsys.readouterr().out)
    assert shape["problems"] == []
    return [(it["code"], it["cell"], it["line"]) for it in shape["findings"]]


def with_value(value: str) -> str:
    """A notebook that leaks, with the value in an output and in metadata."""
    shape = json.loads(text_of_notebook(MODEL, LEAK))
    data = {"application/json": ["VALUE", {"a": "VALUE"}]}
    shape["cells"][1]["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": data}]
    shape["metadata"] = {"score": "VALUE"}
    text = json.dumps(shape, indent=1).replace('"VALUE"', value)
    json.loads(text)
    return text


@pytest.mark.parametrize("value", VALUES, ids=lambda it: it[:12])
def test_a_number_that_only_python_reads_hides_no_finding_and_fix_keeps_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    before = with_value(value)
    path = tmp_path / "a.ipynb"
    path.write_text(before)
    assert found(path, capsys) == [("XL203", 2, 3)]
    assert main(["fix", str(path)]) == 0
    assert path.read_text() == before.replace("(batch).mean()", "(batch).mean().detach()")


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("where", ["markdown", "output", "metadata", "other line", "the line"])
def test_half_of_a_surrogate_pair_hides_no_finding_and_fix_keeps_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], half: str, where: str
) -> None:
    shape = json.loads(text_of_notebook(MODEL, LEAK))
    lines = shape["cells"][2]["source"]
    if where == "markdown":
        shape["cells"][0]["source"] = "HALF"
    elif where == "output":
        shape["cells"][1]["outputs"] = [{"output_type": "stream", "name": "a", "text": ["HALF"]}]
    elif where == "metadata":
        shape["cells"][1]["metadata"] = {"HALF": "HALF"}
    elif where == "other line":
        lines[0] = "total = 0.0  # HALF\n"
    else:
        lines[-1] = '    word = "HALF"; total += net(batch).mean()  # HALF\n'
    before = json.dumps(shape, ensure_ascii=where == "markdown").replace("HALF", f"é{half}")
    json.loads(before)
    path = tmp_path / "a.ipynb"
    path.write_text(before, encoding="utf-8")
    assert found(path, capsys) == [("XL203", 2, 3)]
    assert main(["fix", str(path)]) == 0
    after = path.read_text(encoding="utf-8")
    assert after == before.replace("(batch).mean()", "(batch).mean().detach()")


def test_an_edit_leaves_the_spelling_of_all_other_characters(tmp_path: Path) -> None:
    shape = json.loads(text_of_notebook(MODEL, LEAK))
    before = json.dumps(shape).replace(
        "    total +=", r"    w = '\u00E9\/\u0041\ud83D\uDE00'; total +="
    )
    path = tmp_path / "a.ipynb"
    path.write_text(before)
    assert main(["fix", str(path)]) == 0
    assert path.read_text() == before.replace("(batch).mean()", "(batch).mean().detach()")


@pytest.mark.parametrize("value", ["nan", "+1", "01", "1.", "NaNx", "--1", r'"\ud8"', "1 1", "\0"])
def test_what_python_does_not_read_either_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    path = tmp_path / "a.ipynb"
    text = json.dumps({"cells": [], "a": "VALUE"}).replace('"VALUE"', value)
    with pytest.raises(ValueError, match=r".*"):
        json.loads(text)
    path.write_text(text)
    assert main(["lint", str(path)]) == 2
    assert "it is not valid JSON" in capsys.readouterr().err


def cells_elsewhere() -> dict[str, str]:
    """Notebooks whose second code cell leaks; something else looks like a cell."""
    shape = json.loads(text_of_notebook("x = 1", MODEL + LEAK))
    cells = shape["cells"]
    code: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": []}
    decoy = {**code, "source": MODEL + LEAK}
    no_source = {**shape, "cells": [cells[0], dict(code), cells[2]]}
    within = {**shape, "cells": [{**cells[1], "cells": [decoy]}, cells[2]]}
    beside = {"extra": [{"cells": [decoy]}], **shape}
    both = {**shape, "worksheets": [{"cells": [decoy]}]}
    whole = json.dumps(shape)
    return {
        "a cell without source": json.dumps(no_source),
        "cells within a cell": json.dumps(within),
        "cells of something else": json.dumps(beside),
        "worksheets too": json.dumps(both),
        "two members of one name": whole.replace('"cells":', '"cells": [], "cells":', 1),
        "an escaped word": whole.replace('"code"', r'"c\u006fde"'),
        "a source of other things": whole.replace(
            '"source": ["x = 1"]', '"source": [1, {"a": ["b"]}, null]'
        ),
    }


@pytest.mark.parametrize("kind", cells_elsewhere())
def test_an_edit_goes_to_the_cell_that_was_linted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    before = cells_elsewhere()[kind]
    path = tmp_path / "a.ipynb"
    path.write_text(before)
    assert found(path, capsys) == [("XL203", 2, 5)]
    assert main(["fix", str(path)]) == 0
    after = path.read_text()
    # The decoys are strings, the cell is a list of lines.
    line = '"    total += net(batch).mean()'
    assert before.count(line) == 1
    assert after == before.replace(line, line + ".detach()")


def test_a_notebook_with_halves_outside_of_its_code_runs_and_is_saved(tmp_path: Path) -> None:
    shape = notebook("1 + 1", title="\ud83d", score=float("nan"))
    shape["cells"].append({"cell_type": "markdown", "id": "m", "metadata": {}, "source": "\ude00"})
    path, saved = written(tmp_path, shape), tmp_path / "saved.ipynb"
    done = run(path, "--save-executed", saved, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert [cell["status"] for cell in report(done)["cells"]] == ["ok"]
    again = json.loads(saved.read_text())
    assert again["metadata"]["title"] == "\ud83d"
    assert again["cells"][1]["source"] in ("\ude00", ["\ude00"])
    assert re.search(r"\bNaN\b", saved.read_text())
