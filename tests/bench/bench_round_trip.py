"""How long a cell takes, from the request to its reply and idle: a trivial one and two that fail, on a quiet
machine and beside two loops that keep the processors busy."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from claims import Claim, Measurement
from kernels import IPYKERNEL, UNWATCHED, WATCHED, Side, started

# Two processes of one program differ by a tenth, by where their memory came to lie.
PROCESSES = 8
WARM_UP = 50
ROUNDS = 100
SEED = 7
BUSY_LOOPS = 2
SIDES = [WATCHED, UNWATCHED, IPYKERNEL]

DEEP = "def down(frames): return down(frames - 1) if frames else 1 / 0\ndown(30)"


@dataclass(frozen=True)
class Cell:
    """What is run, and at most how long that may take: of the time in ipykernel, and unwatched."""

    what: str
    code: str
    of_ipykernel: float
    of_unwatched: float
    status: str = "ok"
    pause_seconds: float = 0.0
    """Before each cell: as long as it takes to type Shift+Enter again, say."""


CELLS = [
    Cell("a trivial cell", "x = 1", 0.42, 1.10),
    Cell("a trivial cell, 20 ms after the one before", "x = 1", 0.42, 1.10, pause_seconds=0.02),
    Cell("1/0", "1/0", 0.8, 1.05, "error"),
    Cell("an error 30 frames deep", DEEP, 1.0, 1.05, "error"),
]


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Programs that do nothing else."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def timed(
    sides: list[Side], code: str, rounds: int, status: str = "ok", pause_seconds: float = 0.0
) -> dict[str, list[float]]:
    """Milliseconds of each side, in turn: all kernels live, one works at a time."""
    samples: dict[str, list[float]] = {side.name: [] for side in sides}
    shuffled = random.Random(SEED)
    with ExitStack() as stack:
        clients = [(side.name, stack.enter_context(started(side))) for side in sides]
        for side, (_, client) in zip(sides, clients, strict=True):
            client.subscribed()
            if side.has_panel:
                client.open_panel()
        for number in range(WARM_UP + rounds):
            # What ran before leaves its marks in the caches: each side follows each, itself too.
            for name, client in shuffled.sample(clients, len(clients)):
                if pause_seconds:
                    time.sleep(pause_seconds)
                seconds = client.execute(code, status)
                if number >= WARM_UP:
                    samples[name].append(seconds * 1000)
    return samples


def measure() -> list[Measurement]:
    measurements = []
    for loops, where in ((0, ""), (BUSY_LOOPS, ", beside two busy loops")):
        for cell in CELLS:
            how = (cell.code, ROUNDS, cell.status, cell.pause_seconds)
            samples: dict[str, list[float]] = {}
            with busy_loops(loops):
                for _ in range(PROCESSES):
                    for name, times in timed(SIDES, *how).items():
                        samples.setdefault(name, []).extend(times)
            claims = [
                Claim(WATCHED.name, UNWATCHED.name, cell.of_unwatched),
                Claim(WATCHED.name, IPYKERNEL.name, cell.of_ipykernel),
            ]
            what = f"round trip of {cell.what}{where}"
            measurements.append(Measurement(what, "ms", samples, claims))
    return measurements
