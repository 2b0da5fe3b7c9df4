"""Iterators of itertools.cycle that keep the batches which they gave."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.fields import loaded_class
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.source import parsed
from xleak.shell.tensor_fields import is_tensor

_CYCLE = itertools.cycle
_NAME = re.compile(r"[^\W\d]\w*")
_PARTS = (list, tuple, dict)


class RepeatedBatches:
    """Told where the process has a loader of torch's, whose batches are new in each pass."""

    def __init__(self) -> None:
        self._since: dict[int, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each iterator whose batches nothing else has."""
        found = list(_repeaters(look)) if _has_loaders(look) else []
        self._since = {id(it): self._since.get(id(it), look.cell) for it, _, _ in found}
        for cycle, batches, held in found:
            way = look.heap.way_to(cycle)
            if not is_the_users(way) or way.startswith("Out["):
                continue
            alone = bool(_NAME.fullmatch(way)) and look.heap.retained_bytes(way) >= held
            release = f"del {way}" if alone else ""
            since = self._since[id(cycle)]
            yield _native.Holder("cycle", way, held, since, "batches", len(batches), release)


def _repeaters(look: Look) -> Iterator[tuple[object, list[Any], int]]:
    """(iterator, batches, their bytes) of those that alone keep much."""
    cycles = [it for it in look.live.instances(_CYCLE) if type(it) is _CYCLE]
    for cycle, _ in look.heap.keeping(cycles, REPORTED_BYTES):
        # By tp_traverse: beside the iterator that is not used up.
        for saved in [it for it in gc.get_referents(cycle) if type(it) is list]:
            held = look.heap.retained_by(saved)
            batches = _native.values_of(saved) if held >= REPORTED_BYTES else []
            if batches and all(map(_has_tensor, batches)):
                yield cycle, batches, held


def _has_tensor(batch: object) -> bool:
    parts = gc.get_referents(batch) if _native.is_exactly(batch, _PARTS) else []
    return is_tensor(batch) or any(map(is_tensor, parts))


def _has_loaders(look: Look) -> bool:
    """Whether there are loaders, and no cell goes round and round a list of its own making."""
    loader = loaded_class("torch.utils.data.dataloader", "DataLoader")
    if loader is None or not look.live.instances(_CYCLE):
        return False
    return bool(look.live.instances(loader)) and not any(
        "cycle" in source and _repeats_a_list(source) for source in look.sources.values()
    )


def _repeats_a_list(source: str) -> bool:
    tree = parsed(source)
    calls = [it for it in ast.walk(tree) if isinstance(it, ast.Call)] if tree else []
    return any(_is_made_here(it.args[0]) for it in calls if it.args and _is_cycle(it.func))


def _is_made_here(argument: ast.expr) -> bool:
    """Not a list of colours or names, which keeps nothing."""
    if isinstance(argument, (ast.List, ast.Tuple)):
        return not all(isinstance(it, ast.Constant) for it in argument.elts)
    return isinstance(argument, ast.ListComp)


def _is_cycle(called: ast.expr) -> bool:
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name == "cycle"
