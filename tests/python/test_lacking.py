"""A test that lacks a module which the run leaves out is skipped; any other failure stays one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PLUGIN = Path(__file__).parents[1] / "pythons"
TESTS = """
import subprocess, sys

def test_wants_it():
    import left_out.part

def test_wants_it_in_a_process():
    subprocess.run([sys.executable, "-c", "import left_out"], check=True)

def test_wants_another():
    import left_out_too

def test_fails():
    assert False
"""


def outcome(folder: Path, source: str) -> tuple[int, str]:
    test = folder / "test_it.py"
    test.write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "lacking", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--without", "left_out", test.name],
        env={**os.environ, "PYTHONPATH": str(PLUGIN)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()[-1]


def test_a_test_that_wants_what_the_run_goes_without_is_skipped_and_no_other(
    tmp_path: Path,
) -> None:
    code, last = outcome(tmp_path, TESTS)
    assert code == 1
    assert last.startswith("2 failed, 2 skipped")


def test_a_file_that_wants_it_is_skipped_and_one_that_cannot_be_read_is_not(tmp_path: Path) -> None:
    code, last = outcome(tmp_path, "import left_out\n")
    assert last.startswith("1 skipped")
    code, last = outcome(tmp_path, "import left_out_too\n")
    assert code != 0
    assert "1 error" in last
