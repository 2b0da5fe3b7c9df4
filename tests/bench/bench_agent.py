"""What the agent adds to the time of a reply: cells that leave it something to release, one after another."""

from bench_round_trip import PROCESSES, ROUNDS, timed
from claims import Claim, Measurement
from kernels import WATCHED, Side

AGENT = Side("xleak with the agent", "xleak.kernel", {"XLEAK_POLICY": "auto"})
# Every one leaves the output cache a value of 2 MiB that nothing names.
LEAK = "memoryview(bytearray(2 << 20))"
# That each search takes longer with every entry that stays is not the reply's matter.
LEAKING_ROUNDS = 40


def round_trip(code: str, what: str, rounds: int, bound: float) -> Measurement:
    samples: dict[str, list[float]] = {}
    for _ in range(PROCESSES):
        for name, times in timed([WATCHED, AGENT], code, rounds).items():
            samples.setdefault(name, []).extend(times)
    return Measurement(what, "ms", samples, [Claim(AGENT.name, WATCHED.name, bound)])


def measure() -> list[Measurement]:
    return [
        round_trip("x = 1", "round trip of a trivial cell", ROUNDS, 1.05),
        round_trip(LEAK, "round trip of a cell that leaks 2 MiB", LEAKING_ROUNDS, 1.05),
    ]
