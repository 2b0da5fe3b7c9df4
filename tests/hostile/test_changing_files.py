"""Files that somebody else changes while xleak works on them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from notebook_files import notebook, report, run, written
from test_lint import LEAK, MODEL
from xleak import syntax
from xleak.cli import main

SOURCE = MODEL + LEAK


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Acts once while `xleak fix` has read a file and not written it."""
    look = syntax.refusals

    def changed(*given: object) -> object:
        monkeypatch.setattr(syntax, "refusals", look)
        act()
        return look(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(syntax, "refusals", changed)


def test_a_file_that_was_changed_meanwhile_is_left_as_it_is_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = tmp_path / "a.py", tmp_path / "b.py"
    path.write_text(SOURCE)
    other.write_text(SOURCE)
    meanwhile(monkeypatch, lambda: path.write_text(SOURCE + "saved = 1\n"))
    assert main(["fix", str(tmp_path)]) == 2
    assert path.read_text() == SOURCE + "saved = 1\n"
    assert ".detach()" in other.read_text()
    assert "has changed while it was being fixed" in capsys.readouterr().err


def test_a_file_that_was_deleted_meanwhile_is_not_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.py"
    path.write_text(SOURCE)
    meanwhile(monkeypatch, path.unlink)
    assert main(["fix", str(path)]) == 2
    assert not path.exists()
    assert "Traceback" not in capsys.readouterr().err


def test_a_link_that_is_fixed_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "a.py", tmp_path / "link.py"
    target.write_text(SOURCE)
    link.symlink_to(target)
    assert main(["fix", str(link)]) == 0
    assert link.is_symlink() and ".detach()" in target.read_text()


@pytest.mark.parametrize("change", ["open(PATH, 'w').write('{')", "import os; os.remove(PATH)"])
def test_a_notebook_that_changes_while_it_runs_is_run_as_it_was_read(
    tmp_path: Path, change: str
) -> None:
    path, saved = tmp_path / "nb.ipynb", tmp_path / "saved.ipynb"
    cells = (change.replace("PATH", repr(str(path))), "1 + 1", "2 + 2")
    written(tmp_path, notebook(*cells))
    done = run(path, "--save-executed", saved, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert [cell["status"] for cell in report(done)["cells"]] == ["ok"] * 3
    assert [cell["source"] for cell in json.loads(saved.read_text())["cells"]] == [
        [cell] for cell in cells
    ]
    assert not path.exists() or path.read_text() == "{"


def test_an_output_that_becomes_a_link_to_the_notebook_does_not_overwrite_it(
    tmp_path: Path,
) -> None:
    path, target = tmp_path / "nb.ipynb", tmp_path / "report.json"
    written(tmp_path, notebook(f"import os\nos.symlink({str(path)!r}, {str(target)!r})"))
    before = path.read_bytes()
    done = run(path, "--output", target, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == before
    assert not os.path.islink(target) and json.loads(target.read_text())["cells"]
