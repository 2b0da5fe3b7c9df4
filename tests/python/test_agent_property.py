"""The agent changes nothing that the user's code can tell."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_after_any_cells_every_name_is_the_same_with_the_agent_and_without(
    tell_in_summary: Callable[[str], None], tmp_path: Path
) -> None:
    program = Path(__file__).with_name("agent_property.py")
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    tell_in_summary(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
