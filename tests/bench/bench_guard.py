"""What the guard's thread costs, as a share of one core: idle, in a long cell, and near a limit."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from claims import Claim, Measurement
from kernels import Client, Side, started

ROUNDS = 5
SECONDS = 10
# Half of it is in use all the time: near no limit, but memory is looked at as in any session.
HELD = "held = bytearray(b'x') * (256 << 20)"
BUSY = f"import time\nend = time.monotonic() + {SECONDS}\nwhile time.monotonic() < end: sum(range(1000))"
# As a data loader and a training step do: memory comes and goes all the time.
CHURN = (
    f"import time\nend = time.monotonic() + {SECONDS}\n"
    "while time.monotonic() < end: step = b'x' * (64 << 20); del step"
)
# The limit stands so that the level is `warning` for the whole cell.
NEAR = """
import resource
sizes = [line for line in open("/proc/self/status") if line.startswith("VmData")]
size = int(sizes[0].split()[1]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (size * 100 // 85, resource.RLIM_INFINITY))
"""


def cpu_nanoseconds(pid: int, thread_name: str) -> int:
    """What the threads of that name have run, from /proc/<pid>/task/<tid>/schedstat (proc(5))."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == thread_name:
            total += int((task / "schedstat").read_text().split()[0])
    return total


@contextmanager
def kernel(environment: Mapping[str, str]) -> Iterator[Client]:
    with started(Side("xleak", "xleak.kernel", environment)) as client:
        client.subscribed()
        client.execute(HELD)
        yield client


def shares(client: Client) -> Iterator[tuple[str, float]]:
    """Per cent of a core, for each way to spend the time."""

    def run(cell: str | None) -> float:
        before, begun = cpu_nanoseconds(client.process.pid, "xleak-guard"), time.monotonic()
        if cell is None:
            time.sleep(SECONDS)
        else:
            client.execute(cell)
        took = time.monotonic() - begun
        after = cpu_nanoseconds(client.process.pid, "xleak-guard")
        return (after - before) / 1e9 / took * 100

    yield "idle", run(None)
    yield "in a busy cell", run(BUSY)
    yield "in a cell whose memory comes and goes", run(CHURN)
    client.execute(NEAR)
    yield "near a limit", run(BUSY)


def measure() -> list[Measurement]:
    samples: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        with kernel({"XLEAK_GUARD": "interrupt"}) as client:
            for name, share in shares(client):
                samples.setdefault(name, []).append(share)
    claims = [Claim(name, None, 0.2) for name in samples]
    return [Measurement("share of a core that the guard's thread takes", "%", samples, claims)]
