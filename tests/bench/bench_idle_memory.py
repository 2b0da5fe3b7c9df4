"""What an idle kernel holds after one trivial cell."""

import re
import time
from pathlib import Path

from claims import Claim, Measurement
from kernels import IPYKERNEL, WATCHED, Side, started

ROUNDS = 5
# Long enough for threads to come up and for what a kernel does after a cell.
SETTLE_SECONDS = 2


def resident_and_proportional(side: Side) -> tuple[float, float]:
    """RSS and PSS in MiB, from /proc/<pid>/smaps_rollup (proc(5))."""
    with started(side) as client:
        client.subscribed()
        client.execute("x = 1")
        time.sleep(SETTLE_SECONDS)
        rollup = Path(f"/proc/{client.process.pid}/smaps_rollup").read_text()
    kib = {name: int(value) for name, value in re.findall(r"^(\w+): +(\d+) kB", rollup, re.M)}
    return kib["Rss"] / 1024, kib["Pss"] / 1024


def measure() -> list[Measurement]:
    sides = [WATCHED, IPYKERNEL]
    resident: dict[str, list[float]] = {side.name: [] for side in sides}
    proportional: dict[str, list[float]] = {side.name: [] for side in sides}
    for _ in range(ROUNDS):
        for side in sides:
            rss, pss = resident_and_proportional(side)
            resident[side.name].append(rss)
            proportional[side.name].append(pss)
    claims = [Claim(WATCHED.name, IPYKERNEL.name, 1.0)]
    return [
        Measurement("resident memory (RSS) of an idle kernel", "MiB", resident, claims),
        Measurement("proportional memory (PSS) of an idle kernel", "MiB", proportional, claims),
    ]
