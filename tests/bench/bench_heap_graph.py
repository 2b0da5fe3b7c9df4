"""What it takes to know who holds what in a heap of a million objects."""

import gc
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from claims import Claim, Measurement

PARTS = 350_000
ROUNDS = 5
OBJECT_BYTES, REFERENCE_BYTES = 100, 16

# Each sample is the first one of a process, as a user takes it: guppy3 keeps what it has classified.
SAMPLE = """
import sys
sys.path.insert(0, {folder!r})
import bench_heap_graph as bench
print(bench.{function}(bench.heap_of_parts()))
"""


class Part:
    """An object of the user's with a dictionary and a list of its own."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.options = {"number": number}
        self.items = [number, str(number)]


def heap_of_parts() -> dict[str, Any]:
    """Names over more than a million objects that the collector watches."""
    names: dict[str, Any] = {
        "parts": [Part(number) for number in range(PARTS)],
        "table": {number: (number, [number]) for number in range(PARTS // 2)},
    }
    assert len(gc.get_objects()) >= 1_000_000
    return names


def status(field: str) -> int:
    """Bytes of a line in /proc/self/status."""
    with open("/proc/self/status") as lines:
        kib = next(line.split()[1] for line in lines if line.startswith(field))
    return int(kib) * 1024


def take(names: dict[str, Any]) -> Any:
    from xleak import _native

    slots = [(names, name, name) for name in names]
    return _native.HeapSnapshot.take(slots, [("sys.modules", sys.modules)], [], None, None)


def with_xleak(names: dict[str, Any]) -> float:
    """Milliseconds for the retained size of every name and the way to one object."""
    begun = time.perf_counter()
    heap = take(names)
    sizes = [heap.retained_bytes(name) for name in names]
    way = heap.way_to(names["parts"][PARTS // 2].options)
    seconds = time.perf_counter() - begun
    assert way == f"parts[{PARTS // 2}].options" and all(sizes)
    return seconds * 1000


def with_guppy(_: dict[str, Any]) -> float:
    """Milliseconds for the sizes by type, without who holds what."""
    import guppy

    inspector = guppy.hpy()
    begun = time.perf_counter()
    inspector.heap()
    return (time.perf_counter() - begun) * 1000


def peak_of_bound(names: dict[str, Any]) -> float:
    """The extra memory of one search as a share of what is allowed for so many objects."""
    before = status("VmRSS")
    heap = take(names)
    extra = status("VmHWM") - before
    objects = len(gc.get_objects())
    return extra / (OBJECT_BYTES * objects + REFERENCE_BYTES * int(heap.reference_count))


def sample(function: str) -> float:
    """What one of the functions above returns in a process of its own."""
    script = SAMPLE.format(folder=str(Path(__file__).parent), function=function)
    return float(subprocess.check_output([sys.executable, "-c", script]))


def measure() -> list[Measurement]:
    samples: dict[str, list[float]] = {"xleak": [], "guppy3": []}
    peaks = []
    for _ in range(ROUNDS):
        samples["xleak"].append(sample("with_xleak"))
        samples["guppy3"].append(sample("with_guppy"))
        peaks.append(sample("peak_of_bound"))
    what = "retained size of every name and the way to one object, 1,000,000 objects"
    bound = f"of {OBJECT_BYTES} bytes an object and {REFERENCE_BYTES} a reference"
    return [
        Measurement(what, "ms", samples, [Claim("xleak", "guppy3", 0.2)]),
        Measurement("extra memory of that", bound, {"xleak": peaks}, [Claim("xleak", None, 1.0)]),
    ]
