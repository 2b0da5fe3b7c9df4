"""LibTorch's side of the accounting, here and in processes of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any

import torch  # noqa: F401 — xleak's module is there once torch is.
from xleak.shell import torch_module

assert torch_module.load(), torch_module.why_missing()
from xleak import _torch  # noqa: E402

HEAD = """
import json, torch
from xleak.shell import torch_module
assert torch_module.load(), torch_module.why_missing()
from xleak import _torch
"""

__all__ = ["_torch", "ran"]


def ran(script: str) -> Any:
    """What a fresh process printed as JSON; it starts with torch imported and nothing watched."""
    done = subprocess.run(
        [sys.executable, "-c", HEAD + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
