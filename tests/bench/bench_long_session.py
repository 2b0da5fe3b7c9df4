"""What many cells leave behind: how long a cell takes late in a session beside early in it, and what memory the
kernel holds then. Small cells, of which one in eight shows an array that nobody writes to, and a rest now and then."""

import os
import statistics
import time
from contextlib import ExitStack
from pathlib import Path

from claims import Claim, Measurement
from kernels import IPYKERNEL, WATCHED, Client, started

CELLS = 6000
EARLY = range(100, 600)
LATE = range(CELLS - 500, CELLS)
# Long enough for a look at what the cells before it have left.
REST_SECONDS = 0.1
CELLS_BETWEEN_RESTS = 25
SIDES = [WATCHED, IPYKERNEL]
KINDS = {
    "small cells": ["x = {}", "{} + 1", "y = [{}]", "y", "def f(): return {}", "f()", "'a' * 20"],
    "small cells, and arrays that are shown": [
        *["x = {}", "{} + 1", "y = [{}]", "y", "def f(): return {}", "f()", "'a' * 20"],
        "np.zeros((300, 300))",
    ],
}


def resident_mib(client: Client) -> float:
    """RSS, from /proc/<pid>/statm (proc(5))."""
    pages = int(Path(f"/proc/{client.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def run(codes: list[str], cells: int = CELLS) -> tuple[dict[str, list[float]], dict[str, float]]:
    """By side the milliseconds of all cells, and the MiB that the kernel grew from the first of EARLY on."""
    times: dict[str, list[float]] = {side.name: [] for side in SIDES}
    sizes: dict[str, list[float]] = {side.name: [] for side in SIDES}
    with ExitStack() as stack:
        clients = [(side.name, stack.enter_context(started(side))) for side in SIDES]
        for _, client in clients:
            client.subscribed()
            client.execute("import numpy as np")
        for number in range(cells):
            if number % CELLS_BETWEEN_RESTS == 0:
                time.sleep(REST_SECONDS)
            for name, client in clients if number % 2 else reversed(clients):
                seconds = client.execute(codes[number % len(codes)].format(number))
                times[name].append(seconds * 1000)
                if number in (EARLY.start, cells - 1):
                    sizes[name].append(resident_mib(client))
    return times, {name: last - first for name, (first, last) in sizes.items()}


def measure() -> list[Measurement]:
    measurements = []
    for kind, codes in KINDS.items():
        times, growth = run(codes)
        late = {name: statistics.median(it[n] for n in LATE) for name, it in times.items()}
        early = {name: statistics.median(it[n] for n in EARLY) for name, it in times.items()}
        slowed = {name: [late[name] / early[name]] * 2 for name in late}
        measurements += [
            Measurement(
                f"{kind}: time of the last {len(LATE)} of {CELLS} cells, as a multiple of the first ones'",
                "",
                slowed,
                [Claim(WATCHED.name, None, 1.1)],
            ),
            Measurement(
                f"{kind}: growth of the resident memory over {CELLS} cells",
                "MiB",
                {name: [it] * 2 for name, it in growth.items()},
                [Claim(WATCHED.name, IPYKERNEL.name, 5.0, is_difference=True)],
            ),
        ]
    return measurements
