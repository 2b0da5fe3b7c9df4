"""What counting every CPU tensor costs: the same work, watched and unwatched in turn."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from claims import Claim, Measurement

WARM_UP = 3
# Where things happen to lie in memory moves a process's numbers by some per cent, so there are several.
PAIRS = 16


@dataclass(frozen=True)
class Case:
    """`statement` is repeated `times` in a round, long enough that little disturbs it."""

    what: str
    statement: str
    times: int
    rounds: int  # Of each process.
    at_most: float


# As deep as ResNet-18: stacks of 3×3 convolutions with a way around each pair.
TRAINING = """
from torch import nn
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        layers = [nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)]
        again = [nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)]
        self.body = nn.Sequential(*layers, nn.ReLU(), *again)
    def forward(self, x):
        return torch.relu(x + self.body(x))
torch.manual_seed(0)
head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)]
model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), *(Block(32) for _ in range(8)), *head)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
images, labels = torch.randn(8, 3, 32, 32), torch.randint(10, (8,))
def step():
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
"""
CASES = [
    Case("a tensor of 4 KiB, filled and freed", "torch.ones(1024)", 10_000, 8, 1.03),
    Case("a tensor of 800 KiB, filled and freed", "torch.ones(204800)", 1_000, 8, 1.03),
    Case("a training step of 17 convolutions", "step()", 5, 3, 1.02),
]

# One side: each line asked for is one round, answered by its microseconds a statement.
WORKER = """
import sys, time
import torch
torch.set_num_threads(1)
%(training)s
if sys.argv[1] == "watched":
    from xleak.shell import torch_module
    assert torch_module.load(), torch_module.why_missing()
    from xleak import _torch
    _torch.install()
    _torch.begin_cell(1)
def batch():
    begun = time.perf_counter()
    for _ in range(%(times)d):
        %(statement)s
    return time.perf_counter() - begun
for _ in sys.stdin:
    print(batch() * 1e6 / %(times)d, flush=True)
"""


class Worker:
    """One side, in a process of its own."""

    def __init__(self, side: str, case: Case) -> None:
        parts = {"training": TRAINING, "times": case.times, "statement": case.statement}
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER % parts, side],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def round(self) -> float:
        """Microseconds a statement."""
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
def worker(side: str, case: Case) -> Iterator[Worker]:
    started = Worker(side, case)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.communicate()


def measure() -> list[Measurement]:
    return [measured(case) for case in CASES]


def add_pair(case: Case, samples: dict[str, list[float]]) -> None:
    with worker("watched", case) as watched, worker("unwatched", case) as unwatched:
        for turn in range(WARM_UP + case.rounds):
            for side, process in (("watched", watched), ("unwatched", unwatched)):
                microseconds = process.round()
                if turn >= WARM_UP:
                    samples[side].append(microseconds)


def measured(case: Case) -> Measurement:
    samples: dict[str, list[float]] = {"watched": [], "unwatched": []}
    for _ in range(PAIRS):
        add_pair(case, samples)
    return Measurement(case.what, "µs", samples, [Claim("watched", "unwatched", case.at_most)])
