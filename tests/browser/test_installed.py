"""What JupyterLab says of the extension, as it was installed with the wheel."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.each_lab
def test_jupyterlab_lists_the_extension_as_enabled_and_well() -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "jupyter", "labextension", "list"],
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = [it for it in (listed.stdout + listed.stderr).splitlines() if " xleak v" in it]
    assert "enabled" in line
    assert "OK" in line
