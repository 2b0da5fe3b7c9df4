"""An IPython shell with xleak, in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap

SHELL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "xleak")
def run(source):
    return shell.run_cell(source, store_history=True)
"""


def session(script: str) -> str:
    """What a fresh IPython shell with xleak prints while it runs the script's cells."""
    done = subprocess.run(
        [sys.executable, "-c", SHELL + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
