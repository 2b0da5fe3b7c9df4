"""How long a kernel takes from its start to being ready: by the call that Jupyter's own tools start it with, and
by a client that waits for nothing but the kernel.

The call itself waits 0.1 to 0.2 s until it tries again to connect, since no kernel listens yet when it tries first,
and 0.2 s for iopub to be quiet: no kernel is ready by it within less than 0.35 s.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from claims import Claim, Measurement
from jupyter_client.manager import start_new_kernel
from kernels import IPYKERNEL, WATCHED, Side, started

ROUNDS = 20


@contextmanager
def kernelspecs(sides: list[Side]) -> Iterator[dict[str, str]]:
    """The environment in which Jupyter knows each side by the name of its module, and nothing is the user's."""
    with TemporaryDirectory() as folder:
        for side in sides:
            spec = Path(folder) / "kernels" / side.module
            spec.mkdir(parents=True)
            argv = [sys.executable, "-m", side.module, "-f", "{connection_file}"]
            text = json.dumps({"argv": argv, "display_name": side.name, "language": "python"})
            (spec / "kernel.json").write_text(text)
        os.environ["JUPYTER_PATH"] = folder
        yield {**os.environ, "IPYTHONDIR": folder, "XDG_STATE_HOME": folder}


def start(side: Side, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds until start_new_kernel() returns, and until the reply to the first cell is here too."""
    begun = time.perf_counter()
    manager, client = start_new_kernel(kernel_name=side.module, env=environment)
    ready = time.perf_counter() - begun
    try:
        client.execute_interactive("x = 1")
        return ready, time.perf_counter() - begun
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def start_at_once(side: Side) -> tuple[float, float]:
    """The same with a client that tries to connect every 2 ms."""
    begun = time.perf_counter()
    with started(side) as client:
        client.kernel_info()
        ready = time.perf_counter() - begun
        client.execute("x = 1")
        return ready, time.perf_counter() - begun


def timed(how: Callable[[Side], tuple[float, float]], what: str) -> list[Measurement]:
    sides = [WATCHED, IPYKERNEL]
    ready: dict[str, list[float]] = {side.name: [] for side in sides}
    cells: dict[str, list[float]] = {side.name: [] for side in sides}
    for side in sides:
        how(side)  # The first one reads the files from disk.
    for number in range(ROUNDS):
        for side in sides if number % 2 else reversed(sides):
            seconds, executed = how(side)
            ready[side.name].append(seconds)
            cells[side.name].append(executed)
    claims = [Claim(WATCHED.name, IPYKERNEL.name, 0.8)]
    return [
        Measurement(f"start to ready, by {what}", "s", ready, claims),
        Measurement(f"start to the end of the first cell, by {what}", "s", cells, claims),
    ]


def measure() -> list[Measurement]:
    with kernelspecs([WATCHED, IPYKERNEL]) as environment:
        by_jupyter = timed(partial(start, environment=environment), "start_new_kernel()")
    return [*by_jupyter, *timed(start_at_once, "a client that does not wait")]
