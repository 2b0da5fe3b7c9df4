"""What an idle kernel holds after one trivial cell, and after many small ones."""

import re
import time
from pathlib import Path

from claims import Claim, Measurement
from kernels import IPYKERNEL, WATCHED, Client, Side, started

ROUNDS = 5
CELLS = 500
# Long enough for threads to come up and for what a kernel does after a cell.
SETTLE_SECONDS = 2

# What people type between the large cells; each has a number of its own, as no two cells are the same.
SMALL = (
    "x = {n}",
    "x + {n}",
    "print('step', {n})",
    "def f_{n}(a, b=1):\n    return a * b + {n}\n\nf_{n}(2)",
    "rows = [i * {n} for i in range(50)]\nlen(rows)",
    "import math\ntotal = math.sqrt({n})",
)


def resident_and_proportional(client: Client) -> tuple[float, float]:
    """RSS and PSS in MiB, from /proc/<pid>/smaps_rollup (proc(5))."""
    time.sleep(SETTLE_SECONDS)
    rollup = Path(f"/proc/{client.process.pid}/smaps_rollup").read_text()
    kib = {name: int(value) for name, value in re.findall(r"^(\w+): +(\d+) kB", rollup, re.M)}
    return kib["Rss"] / 1024, kib["Pss"] / 1024


def after_one_and_many(side: Side) -> tuple[tuple[float, float], tuple[float, float]]:
    """What the kernel holds after one cell and after CELLS."""
    with started(side) as client:
        client.subscribed()
        client.execute("x = 1")
        one = resident_and_proportional(client)
        for number in range(CELLS):
            client.execute(SMALL[number % len(SMALL)].format(n=number))
        return one, resident_and_proportional(client)


def measure() -> list[Measurement]:
    sides = [WATCHED, IPYKERNEL]
    samples: dict[str, dict[str, list[float]]] = {}
    for _ in range(ROUNDS):
        for side in sides:
            one, many = after_one_and_many(side)
            for when, (rss, pss) in {"": one, f", after {CELLS} small cells": many}.items():
                for what, value in {
                    "resident memory (RSS)": rss,
                    "proportional (PSS)": pss,
                }.items():
                    of_sides = samples.setdefault(f"{what} of an idle kernel{when}", {})
                    of_sides.setdefault(side.name, []).append(value)
    claims = [Claim(WATCHED.name, IPYKERNEL.name, 0.85)]
    return [Measurement(what, "MiB", of_sides, claims) for what, of_sides in samples.items()]
