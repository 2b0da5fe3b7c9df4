"""The pytest plugin as the wheel brings it: nobody names it."""

import os
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

TESTS = """
import pytest, xleak

ROWS = []

@pytest.mark.xleak(max_kept="1MiB")
def test_that_keeps():
    print("from", xleak.__file__)
    ROWS.append(bytearray(5 << 20))

@pytest.mark.xleak(max_kept="1MiB")
def test_that_frees():
    bytearray(5 << 20)
"""


def test_pytest_finds_the_mark_by_the_entry_point_of_the_wheel(
    unpacked: Path, tmp_path: Path
) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    command = [sys.executable, "-m", "pytest", "-q", "-rP", "-p", "no:cacheprovider", "test_it.py"]
    # A folder of the path with a dist-info is what an installed distribution is.
    environment = {**os.environ, "PYTHONPATH": str(unpacked)}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"from {unpacked}/xleak/__init__.py" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert "kept 5 MiB of the C heap; it may 1 MiB" in done.stdout
    assert "ROWS: 1 element more" in done.stdout


def test_the_wheel_names_the_plugin_to_pytest(unpacked: Path) -> None:
    (distribution,) = distributions(path=[str(unpacked)])
    (plugin,) = distribution.entry_points.select(group="pytest11")
    assert plugin.value == "xleak.pytest_plugin"
