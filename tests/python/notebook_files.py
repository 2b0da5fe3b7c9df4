"""Small notebooks written to a folder, and `xleak run` on them as a user starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# XLEAK_TEST_KERNEL=python3 runs the same tests through %load_ext xleak in ipykernel.
KERNEL = os.environ.get("XLEAK_TEST_KERNEL", "xleak")
LIMIT_SECONDS = 120


def code(source: str, **more: Any) -> dict[str, Any]:
    """A code cell of format 4.5; its id is made from its source."""
    return {
        "cell_type": "code",
        "id": f"id-{abs(hash(source)) % 10**8}",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
        **more,
    }


def notebook(*cells: str | dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """A notebook of format 4.5 over code cells."""
    whole = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": whole}


def written(folder: Path, shape: Any, name: str = "nb.ipynb") -> Path:
    """The notebook as a file."""
    path = folder / name
    path.write_text(json.dumps(shape))
    return path


def command(*arguments: str | Path) -> list[str]:
    """`xleak run` on the kernel under test."""
    words = [str(argument) for argument in arguments]
    return [sys.executable, "-m", "xleak", "run", "--kernel", KERNEL, *words]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs it to its end, from another folder than the notebook's."""
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )


def report(done: subprocess.CompletedProcess[str]) -> Any:
    """The JSON on its stdout."""
    assert done.stdout, done.stderr
    return json.loads(done.stdout)
