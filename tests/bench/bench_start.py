"""How long a kernel takes from its start to being ready, by the call that Jupyter's own tools start it with."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from claims import Claim, Measurement
from jupyter_client.manager import start_new_kernel
from kernels import IPYKERNEL, WATCHED, Side

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


def measure() -> list[Measurement]:
    sides = [WATCHED, IPYKERNEL]
    ready: dict[str, list[float]] = {side.name: [] for side in sides}
    cells: dict[str, list[float]] = {side.name: [] for side in sides}
    with kernelspecs(sides) as environment:
        for side in sides:
            start(side, environment)  # The first one reads the files from disk.
        for number in range(ROUNDS):
            for side in sides if number % 2 else reversed(sides):
                seconds, executed = start(side, environment)
                ready[side.name].append(seconds)
                cells[side.name].append(executed)
    claims = [Claim(WATCHED.name, IPYKERNEL.name, 0.8)]
    return [
        Measurement("start to ready, by start_new_kernel()", "s", ready, claims),
        Measurement("start to the end of the first cell", "s", cells, claims),
    ]
