"""`xleak fix`: edits the source and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from test_lint import LEAK, MODEL, notebook
from xleak import _native, source
from xleak.cli import main
from xleak.lint import edits
from xleak.shell.source import parsed

FOLDERS = Path(__file__).parents[2] / "monitor" / "smells"
FIXED = LEAK.replace(".mean()", ".mean().detach()")


def fixed(path: Path, *options: str) -> int:
    return main(["fix", *options, str(path)])


def test_a_script_is_edited_where_the_finding_is_and_nowhere_else(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbf" + (MODEL + "# %% caf\xe9\r\n" + LEAK + "# end").encode())
    assert fixed(path) == 0
    assert (
        path.read_bytes()
        == b"\xef\xbb\xbf" + (MODEL + "# %% caf\xe9\r\n" + FIXED + "# end").encode()
    )


@pytest.mark.parametrize("indent", [None, 1, "\t"])
@pytest.mark.parametrize("as_list", [True, False])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_notebook_keeps_every_byte_but_those_of_the_line(
    tmp_path: Path, indent: int | str | None, as_list: bool, ascii_only: bool
) -> None:
    shape = json.loads(notebook(MODEL, "'é' # \"quoted\" \\\n" + LEAK))
    shape["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["ü", 1e5]}]
    shape["cells"][2]["metadata"] = {"cells": [{"cell_type": "code", "source": "no cell"}]}
    if not as_list:
        for cell in shape["cells"][1:]:
            cell["source"] = "".join(cell["source"])
    before = json.dumps(shape, indent=indent, ensure_ascii=ascii_only) + "\n"
    path = tmp_path / "a.ipynb"
    path.write_text(before, encoding="utf-8")
    assert fixed(path) == 0
    assert path.read_text(encoding="utf-8") == before.replace(
        "net(batch).mean()", "net(batch).mean().detach()"
    )


def test_a_second_run_changes_nothing_more(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(notebook(MODEL, LEAK))
    fixed(path)
    once = path.read_bytes()
    fixed(path)
    assert path.read_bytes() == once


def test_a_diff_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_text(MODEL + LEAK)
    assert fixed(path, "--diff") == 0
    assert path.read_text() == MODEL + LEAK
    assert "+    total += net(batch).mean().detach()" in capsys.readouterr().out


def test_what_is_not_selected_is_not_edited(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(MODEL + LEAK)
    fixed(path, "--ignore", "XL203")
    assert path.read_text() == MODEL + LEAK


def test_a_file_that_cannot_be_read_is_said_and_the_others_are_edited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.ipynb").write_text("{")
    (tmp_path / "b.py").write_text(MODEL + LEAK)
    assert fixed(tmp_path) == 2
    assert "a.ipynb" in capsys.readouterr().err
    assert (tmp_path / "b.py").read_text() == MODEL + FIXED


def test_a_cell_that_does_not_parse_is_left_as_it_is_and_the_others_are_edited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(notebook(MODEL, LEAK + "x = (", LEAK))
    assert fixed(path) == 2
    cells = [cell["source"] for cell in json.loads(path.read_text())["cells"]]
    assert ["".join(it) for it in cells[2:]] == [LEAK + "x = (", FIXED]
    said = capsys.readouterr().err
    assert "a.ipynb:cell 2:4:5: " in said and "This cell is left as it is." in said
    script = tmp_path / "a.py"
    script.write_text(MODEL + LEAK + "x = (")
    assert fixed(script) == 2
    assert script.read_text() == MODEL + LEAK + "x = ("
    assert "The file is left as it is." in capsys.readouterr().err


def _repairable() -> list[Path]:
    slugs = [smell.slug for smell in _native.smells() if smell.in_source]
    return [path for slug in slugs for path in sorted((FOLDERS / slug).glob("bad*.py"))]


@pytest.mark.parametrize("path", _repairable(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_an_example_has_no_finding_left_that_could_be_repaired(path: Path) -> None:
    data = path.read_bytes()
    for _round in range(10):
        file = source.lint_text("a.py", data)
        wanted: dict[int, list[_native.Edit]] = {}
        for finding in file.report.findings:
            for edit in next((it.edits for it in finding.fixes if it.edits), []):
                wanted.setdefault(edit.cell, []).append(edit)
        if not wanted:
            break
        data = edits.script(data, wanted, file.first_lines)
    else:
        pytest.fail("the fixes never end")
    # As IPython reads it: some examples have magics.
    assert all(parsed(cell) for cell in re.split(r"(?m)^# %%.*$", data.decode()))
