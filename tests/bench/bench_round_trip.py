"""How long a trivial cell takes, from the request to its reply and idle."""

import random
from contextlib import ExitStack

from claims import Claim, Measurement
from kernels import IPYKERNEL, UNWATCHED, WATCHED, Side, started

# Two processes of one program differ by a tenth, by where their memory came to lie.
PROCESSES = 8
WARM_UP = 50
ROUNDS = 100
SEED = 7


def timed(sides: list[Side], code: str, rounds: int) -> dict[str, list[float]]:
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
                seconds = client.execute(code)
                if number >= WARM_UP:
                    samples[name].append(seconds * 1000)
    return samples


def measure() -> list[Measurement]:
    samples: dict[str, list[float]] = {}
    for _ in range(PROCESSES):
        for name, times in timed([WATCHED, UNWATCHED, IPYKERNEL], "x = 1", ROUNDS).items():
            samples.setdefault(name, []).extend(times)
    claims = [
        Claim(WATCHED.name, UNWATCHED.name, 1.10),
        Claim(WATCHED.name, IPYKERNEL.name, 0.7),
    ]
    return [Measurement("round trip of a trivial cell", "ms", samples, claims)]
