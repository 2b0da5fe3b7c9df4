"""Commands whose stdout is full, closed or read by nobody."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from notebook_files import KERNEL, LIMIT_SECONDS, notebook, written
from test_lint import LEAK, MODEL

UNWRITTEN = 4


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs `xleak COMMAND` in a shell, for its redirections."""
    (folder / "state").mkdir(exist_ok=True)
    return subprocess.run(
        ["bash", "-c", f"{shlex.quote(sys.executable)} -m xleak {command}"],
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "leak.py").write_text(MODEL + LEAK)
    written(tmp_path, notebook("x = 1"))
    return tmp_path


COMMANDS = {
    "lint": "lint leak.py",
    "lint as JSON": "lint --format json leak.py",
    "lint statistics": "lint --statistics leak.py",
    "fix": "fix --diff leak.py",
    "rules": "rules",
    "rules as JSON": "rules --format json",
    "explain": "explain XL203",
    "postmortem": "postmortem",
    "help": "lint --help",
    "version": "--version",
    "run": f"run --kernel {KERNEL} nb.ipynb",
}


# Of those that do not end with 0: a leak, no record.
CODES = {"lint": 1, "lint as JSON": 1, "lint statistics": 1, "postmortem": 1}


@pytest.mark.parametrize("where", ["/dev/full", "&-"])
@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_written_is_one_sentence_and_a_code_of_its_own(
    folder: Path, command: str, where: str
) -> None:
    done = shell(f"{COMMANDS[command]} >{where}", folder)
    assert done.returncode == UNWRITTEN, done.stderr
    [sentence] = done.stderr.splitlines()
    assert "cannot write to stdout: " in sentence


def test_a_run_does_not_begin_where_stdout_is_closed(folder: Path) -> None:
    path = written(folder, notebook("open('ran', 'w').close()"))
    done = shell(f"run --kernel {KERNEL} {path} >&-", folder)
    assert done.returncode == UNWRITTEN
    assert not (folder / "ran").exists()


def test_a_run_with_an_output_file_has_it_where_stdout_is_closed(folder: Path) -> None:
    done = shell(f"run --kernel {KERNEL} --format json --output report.json nb.ipynb >&-", folder)
    assert done.returncode == UNWRITTEN
    assert (folder / "report.json").read_text().startswith("{")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_goes_away_is_no_failure(folder: Path, command: str) -> None:
    done = shell(f"{COMMANDS[command]} | true; exit ${{PIPESTATUS[0]}}", folder)
    assert done.returncode == CODES.get(command, 0), done.stderr
    assert "Traceback" not in done.stderr and "cannot write" not in done.stderr


@pytest.mark.parametrize("where", ["/dev/full", "&-"])
def test_a_fix_needs_no_stdout(folder: Path, where: str) -> None:
    done = shell(f"fix leak.py >{where}", folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "made 1 repair in 1 file\n"
    assert ".detach()" in (folder / "leak.py").read_text()


@pytest.mark.parametrize("where", ["/dev/full", "&-"])
def test_where_stderr_cannot_be_written_stdout_and_the_code_are_as_ever(
    folder: Path, where: str
) -> None:
    (folder / "broken.ipynb").write_text("{")
    expected = shell("lint leak.py broken.ipynb", folder)
    done = shell(f"lint leak.py broken.ipynb 2>{where}", folder)
    assert (done.returncode, done.stdout) == (1, expected.stdout)
    assert shell(f"lint nowhere 2>{where}", folder).returncode == 2
    assert shell(f"lint --nonsense 2>{where}", folder).returncode == 2


def test_no_file_of_the_user_s_takes_the_place_of_a_closed_descriptor(folder: Path) -> None:
    done = shell("fix leak.py <&- >&- 2>&-", folder)
    assert done.returncode == 0
    assert (folder / "leak.py").read_text() == MODEL + LEAK.replace(".mean()", ".mean().detach()")
