"""What a cell that keeps nothing waits for in a large session: no walk may be part of it."""

import subprocess
import sys
import time

from claims import Claim, Measurement

LIVE_OBJECTS = 1_000_000
WARM_UP = 20
ROUNDS = 200

# In a process of its own: the objects, torch and the watcher stay there.
SAMPLE = """
import sys
sys.path.insert(0, {folder!r})
import bench_quiet_cell as bench
bench.print_samples()
"""


def print_samples() -> None:
    """Milliseconds that the watcher adds after each of the cells, one a line."""
    import torch
    from IPython.core.interactiveshell import InteractiveShell
    from xleak.shell.watcher import watcher

    objects: list[list[object]] = [[] for _ in range(LIVE_OBJECTS)]
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "xleak")
    watching = watcher()
    assert watching is not None and torch.zeros(1).numel() == 1
    judged, took = watching.after_cell, []

    def timed(index: int, source: str, execution_count: int | None) -> None:
        begun = time.perf_counter()
        judged(index, source, execution_count)
        took.append((time.perf_counter() - begun) * 1000)

    vars(watching)["after_cell"] = timed
    for _ in range(WARM_UP + ROUNDS):
        shell.run_cell("x = 1", store_history=True)
    assert len(objects) == LIVE_OBJECTS
    print(*took[WARM_UP:], sep="\n")


def measure() -> list[Measurement]:
    folder = __file__.rpartition("/")[0]
    done = subprocess.run(
        [sys.executable, "-c", SAMPLE.format(folder=folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    samples = {"xleak": [float(line) for line in done.stdout.split()]}
    what = "after a quiet cell, torch loaded, 1,000,000 live objects"
    return [Measurement(what, "ms", samples, [Claim("xleak", None, 0.2)])]
