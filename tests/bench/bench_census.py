"""The census of live tensors by storage, in C++ and as a loop in Python, over one heap."""

import gc
import time
import warnings
from collections.abc import Callable
from typing import Any

from claims import Claim, Measurement

OBJECTS = 160_000
TENSORS = 2_000
ROUNDS = 15


def by_loop() -> dict[int, tuple[int, list[int]]]:
    """What Python can see: by storage its bytes and the tensors that show it."""
    import torch

    rows: dict[int, tuple[int, list[int]]] = {}
    for thing in gc.get_objects():
        if isinstance(thing, torch.Tensor):
            storage = thing.untyped_storage()
            rows.setdefault(storage._cdata, (storage.nbytes(), []))[1].append(id(thing))
    return rows


def milliseconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def measure() -> list[Measurement]:
    import torch
    from xleak.shell import torch_module

    assert torch_module.load(), torch_module.why_missing()
    from xleak import _torch

    tensors = [torch.zeros(64) for _ in range(TENSORS // 2)]
    views = [tensor[:8] for tensor in tensors]
    gc.collect()
    lists: list[list[object]] = [[] for _ in range(max(0, OBJECTS - len(gc.get_objects())))]
    samples: dict[str, list[float]] = {"xleak": [], "Python loop": []}
    with warnings.catch_warnings():
        # isinstance() asks every object of torch's that is deprecated.
        warnings.simplefilter("ignore")
        for _ in range(ROUNDS):
            samples["Python loop"].append(milliseconds(by_loop))
            samples["xleak"].append(milliseconds(_torch.census))
    assert len(views) == TENSORS // 2
    lists.clear()
    what = f"census of {TENSORS:,} tensors among {OBJECTS:,} objects"
    return [Measurement(what, "ms", samples, [Claim("xleak", "Python loop", 0.25)])]
