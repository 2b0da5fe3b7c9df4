"""Starts the processes in which cases are played."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

# For matplotlib's list of fonts, which takes seconds to make.
_FONTS = str(Path(tempfile.gettempdir()) / "truth_matplotlib")


def run_python(
    arguments: Sequence[str | Path],
    folder: str | Path,
    patience: float,
    environment: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    """Runs Python in the folder, without a screen, a card or settings of the user's.

    patience: in seconds; after that subprocess.TimeoutExpired is raised.
    """
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={
            **os.environ,
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": _FONTS,
            "IPYTHONDIR": str(folder),
            "JUPYTER_DATA_DIR": str(folder),
            "CUDA_VISIBLE_DEVICES": "",
            "PYTHONHASHSEED": "0",
            **(environment or {}),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=patience,
        check=False,
    )
