"""How long a cell of 20 prints takes, from the request to its reply and idle."""

from bench_round_trip import timed
from claims import Claim, Measurement
from kernels import IPYKERNEL, WATCHED

ROUNDS = 200
CODE = "for i in range(20):\n    print(i)"


def measure() -> list[Measurement]:
    samples = timed([WATCHED, IPYKERNEL], CODE, ROUNDS)
    claims = [Claim(WATCHED.name, IPYKERNEL.name, 1.0)]
    return [Measurement("20 prints in a cell", "ms", samples, claims)]
