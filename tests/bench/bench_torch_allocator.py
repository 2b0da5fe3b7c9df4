"""What counting every CPU tensor costs: the same allocations, watched and unwatched in turn."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from claims import Claim, Measurement

WARM_UP = 10
ROUNDS = 100
CASES = {
    "a tensor of 4 KiB, made and freed": "torch.ones(1024)",
    "a tensor of 800 KiB, made and freed": "torch.ones(204800)",
}
# How many a round are: about 30 ms, so that a round is more than what disturbs it.
ALLOCATIONS = 10_000

# One side: each line asked for is one round, answered by its microseconds an allocation.
WORKER = """
import sys, time
import torch
torch.set_num_threads(1)
if sys.argv[1] == "watched":
    from xleak.shell import torch_module
    assert torch_module.load(), torch_module.why_missing()
    from xleak import _torch
    _torch.install()
    _torch.begin_cell(1)
def batch():
    begun = time.perf_counter()
    for _ in range(%d):
        %s
    return time.perf_counter() - begun
for _ in sys.stdin:
    print(batch() * 1e6 / %d, flush=True)
"""


class Worker:
    """One side, in a process of its own."""

    def __init__(self, side: str, allocation: str) -> None:
        code = WORKER % (ALLOCATIONS, allocation, ALLOCATIONS)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, side],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def round(self) -> float:
        """Microseconds an allocation."""
        asked, answered = self._pipe(self.process.stdin), self._pipe(self.process.stdout)
        asked.write("\n")
        asked.flush()
        return float(answered.readline())

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        if pipe is None:
            raise RuntimeError("the worker has no pipe")
        return pipe


@contextmanager
def worker(side: str, allocation: str) -> Iterator[Worker]:
    started = Worker(side, allocation)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.communicate()


def measure() -> list[Measurement]:
    return [measured(what, allocation) for what, allocation in CASES.items()]


def measured(what: str, allocation: str) -> Measurement:
    samples: dict[str, list[float]] = {"watched": [], "unwatched": []}
    with worker("watched", allocation) as watched, worker("unwatched", allocation) as unwatched:
        for turn in range(WARM_UP + ROUNDS):
            for side, process in (("watched", watched), ("unwatched", unwatched)):
                microseconds = process.round()
                if turn >= WARM_UP:
                    samples[side].append(microseconds)
    return Measurement(what, "µs", samples, [Claim("watched", "unwatched", 1.03)])
