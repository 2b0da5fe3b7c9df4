"""How long a kernel takes from its start to its first answers."""

import time

from claims import Claim, Measurement
from kernels import IPYKERNEL, WATCHED, Side, started

ROUNDS = 10


def start(side: Side) -> tuple[float, float]:
    """Seconds to the first kernel_info reply, and to the reply and idle of the first cell."""
    begun = time.perf_counter()
    with started(side) as client:
        client.kernel_info()
        answered = time.perf_counter() - begun
        client.subscribed()
        client.execute("x = 1")
        return answered, time.perf_counter() - begun


def measure() -> list[Measurement]:
    sides = [WATCHED, IPYKERNEL]
    for side in sides:
        start(side)  # The first one reads the files from disk.
    answers: dict[str, list[float]] = {side.name: [] for side in sides}
    cells: dict[str, list[float]] = {side.name: [] for side in sides}
    for number in range(ROUNDS):
        for side in sides if number % 2 else reversed(sides):
            answered, executed = start(side)
            answers[side.name].append(answered)
            cells[side.name].append(executed)
    claims = [Claim(WATCHED.name, IPYKERNEL.name, 1.0)]
    return [
        Measurement("start to the first kernel_info reply", "s", answers, claims),
        Measurement("start to the end of the first cell", "s", cells, claims),
    ]
