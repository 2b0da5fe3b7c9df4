"""What an open panel costs: the round trip of a trivial cell, and the scripting of a frame while its lists
are scrolled."""

import json
import subprocess
from pathlib import Path

from bench_round_trip import PROCESSES, ROUNDS, timed
from claims import Claim, Measurement
from kernels import WATCHED, WATCHED_WITH_PANEL

ROOT = Path(__file__).resolve().parents[2]
LAB_PYTHON = ROOT / ".venvs" / "lab" / "bin" / "python"
BROWSER_RUNS = 3
# A frame of a screen that shows 60 a second.
FRAME_MILLISECONDS = 16


def round_trip() -> Measurement:
    samples: dict[str, list[float]] = {}
    for _ in range(PROCESSES):
        for name, times in timed([WATCHED, WATCHED_WITH_PANEL], "x = 1", ROUNDS).items():
            samples.setdefault(name, []).extend(times)
    claim = Claim(WATCHED_WITH_PANEL.name, WATCHED.name, 0.5, is_difference=True)
    return Measurement("round trip of a trivial cell, with a panel open", "ms", samples, [claim])


def frames() -> Measurement:
    """The slowest frame of each run is a side of its own: a median would hide it."""
    samples: dict[str, list[float]] = {}
    script = ROOT / "tests" / "browser" / "long_session.py"
    for _ in range(BROWSER_RUNS):
        told = subprocess.run([LAB_PYTHON, script], stdout=subprocess.PIPE, text=True, check=True)
        for name, times in json.loads(told.stdout).items():
            samples.setdefault(name, []).extend(times)
            samples.setdefault(f"{name}, slowest", []).append(max(times))
    claims = [Claim(name, None, FRAME_MILLISECONDS) for name in samples]
    what = "scripting in a frame while 500 cells or 1000 findings are scrolled, by Chromium's trace"
    return Measurement(what, "ms", samples, claims)


def measure() -> list[Measurement]:
    return [round_trip(), frames()]
