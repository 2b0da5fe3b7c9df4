"""What counting every CPU tensor costs: the same work in the same processes, before it is counted and after."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from claims import Claim, Measurement

WARM_UP = 3
# Where a block happens to lie on its page moves a process's numbers by up to 40 %: each process is both
# sides, and there are several.
PROCESSES = 12


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

# "watch" begins the counting; any other line asks for one round, answered by its microseconds a statement.
WORKER = """
import sys, time
import torch
torch.set_num_threads(1)
from xleak.shell import torch_module
assert torch_module.load(), torch_module.why_missing()
from xleak import _torch
%(training)s
def batch():
    begun = time.perf_counter()
    for _ in range(%(times)d):
        %(statement)s
    return time.perf_counter() - begun
for line in sys.stdin:
    if line == "watch\\n":
        _torch.install()
        _torch.begin_cell(1)
    else:
        print(batch() * 1e6 / %(times)d, flush=True)
"""


class Worker:
    """A process that repeats one case."""

    def __init__(self, case: Case) -> None:
        parts = {"training": TRAINING, "times": case.times, "statement": case.statement}
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER % parts],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def round(self) -> float:
        """Microseconds a statement."""
        self._say("")
        return float(self._pipe(self.process.stdout).readline())

    def watch(self) -> None:
        """From here on its tensors are counted."""
        self._say("watch")

    def _say(self, line: str) -> None:
        asked = self._pipe(self.process.stdin)
        asked.write(f"{line}\n")
        asked.flush()

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        if pipe is None:
            raise RuntimeError("the worker has no pipe")
        return pipe


@contextmanager
def worker(case: Case) -> Iterator[Worker]:
    started = Worker(case)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.communicate()


def measure() -> list[Measurement]:
    return [measured(case) for case in CASES]


def rounds(process: Worker, count: int) -> list[float]:
    return [process.round() for _ in range(WARM_UP + count)][WARM_UP:]


def measured(case: Case) -> Measurement:
    samples: dict[str, list[float]] = {"watched": [], "unwatched": []}
    for _ in range(PROCESSES):
        with worker(case) as process:
            samples["unwatched"] += rounds(process, case.rounds)
            process.watch()
            samples["watched"] += rounds(process, case.rounds)
    return Measurement(case.what, "µs", samples, [Claim("watched", "unwatched", case.at_most)])
