"""By how much what a cell kept differs between runs of one notebook, beside the growth of the process."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from claims import Claim, Measurement

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "leaky_training.ipynb"
RUNS = 5
MIB = 1 << 20


def cells() -> list[dict[str, int]]:
    """(kept, growth of the process) of each cell in one run, in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "verdict.json"
        asked = ["run", str(NOTEBOOK), "--format", "json", "--output", str(written)]
        subprocess.run(
            [sys.executable, "-m", "xleak", *asked, "--fail-on", "never"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        hosts = [cell["host"] for cell in json.loads(written.read_text())["cells"]]
    return [
        {
            "kept": host["kept_bytes"],
            "process": host["resident_after_bytes"] - host["resident_before_bytes"],
        }
        for host in hosts
    ]


def measure() -> list[Measurement]:
    runs = [cells() for _ in range(RUNS)]
    samples = {
        what: [
            max(abs(one[what] - first[what]) for one, first in zip(run, runs[0], strict=True)) / MIB
            for run in runs[1:]
        ]
        for what in ("kept", "process")
    }
    what = f"largest difference of one cell of {NOTEBOOK.name} to the first of {RUNS} runs"
    return [Measurement(what, "MiB", samples, [Claim("kept", None, 1.0)])]
