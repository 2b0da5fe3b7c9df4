"""What the ledger of large blocks costs: the same work in one process, with it and without it in turn.

Processor time of the thread, since others use the machine. Of each round without the ledger there are two: the
second beside the first says how far two equal sides lie apart.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from claims import Claim, Measurement

# Where blocks happen to lie moves a process's numbers.
PROCESSES = 6
ROUNDS = 9


@dataclass(frozen=True)
class Case:
    """`call` is made `times` in a round; what it takes is divided by `times * each`."""

    what: str
    call: str
    times: int
    each: int
    unit: str
    at_most: float
    is_difference: bool = False


CASES = [
    Case("malloc and free of 64 bytes", "pairs(64, 1_000_000)", 2, 1_000_000, "ns", 1.0, True),
    Case("np.empty of 1 MiB, made and dropped", "empty()", 100_000, 1, "ns", 15.0, True),
    Case("np.ones of 1 MiB, made and dropped", "ones()", 100_000 // ROUNDS, 1, "µs", 1.02),
    Case("JSON written and read", "by_json()", 20, 1, "µs", 1.02),
    Case("a dictionary of 100,000 texts", "by_dict()", 5, 1, "µs", 1.02),
]

# A library of its own makes the pairs: what calls malloc has an import table, which is what is set.
PAIRS = """
#include <cstdlib>
extern "C" void pairs(std::size_t bytes, std::size_t times) {
  for (std::size_t at = 0; at < times; ++at) {
    void* block = std::malloc(bytes);
    __asm__ volatile("" : "+r"(block) : : "memory");
    std::free(block);
  }
}
"""

WORKER = """
import ctypes, json, sys, time
import numpy as np
from xleak import _native
pairs = ctypes.PyDLL(sys.argv[1]).pairs
pairs.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
shape = 1 << 17
def empty(): np.empty(shape)
def ones(): np.ones(shape)
rows = [dict(name=str(i), values=list(range(20))) for i in range(300)]
def by_json(): json.loads(json.dumps(rows))
def by_dict(): dict((str(i), i) for i in range(100_000))
times = int(sys.argv[3])
def batch():
    begun = time.thread_time_ns()
    for _ in range(times):
        %s
    return (time.thread_time_ns() - begun) / times
def watched():
    state = _native.install_ledger()
    assert state.installed, state.reason
    taken = batch()
    _native.uninstall_ledger()
    return taken
for round in range(int(sys.argv[2]) + 1):
    print(batch(), watched(), batch())
"""


def measure() -> list[Measurement]:
    library = built_pairs()
    return [measured(case, library) for case in CASES]


def built_pairs() -> str:
    folder = Path(mkdtemp(prefix="xleak-bench-"))
    (folder / "pairs.cpp").write_text(PAIRS)
    compiler = [
        "c++",
        "-O2",
        "-shared",
        "-fPIC",
        str(folder / "pairs.cpp"),
        "-o",
        str(folder / "pairs.so"),
    ]
    subprocess.run(compiler, check=True)
    return str(folder / "pairs.so")


def measured(case: Case, library: str) -> Measurement:
    samples: dict[str, list[float]] = {"without": [], "with": [], "without again": []}
    scale = case.each * (1 if case.unit == "ns" else 1000)
    for _ in range(PROCESSES):
        program = [sys.executable, "-c", WORKER % case.call, library, str(ROUNDS), str(case.times)]
        said = subprocess.run(program, capture_output=True, text=True, check=True).stdout
        # The first round warms up.
        for line in said.splitlines()[1:]:
            for side, taken in zip(samples, line.split(), strict=True):
                samples[side].append(float(taken) / scale)
    claim = Claim("with", "without", case.at_most, case.is_difference)
    return Measurement(case.what, case.unit, samples, [claim])
