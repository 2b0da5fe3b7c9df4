"""Models of Keras that a cell made and that no name of the user's leads to any more."""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of, instances
from xleak.shell.holders.containers import is_users_class
from xleak.shell.holders.keras_weights import bytes_of_variable, variables
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.reruns import identity_of

IN_LOOP, OF_RUNS = "models of a loop", "models of runs"
GARBAGE = "garbage"
# A first run and one more are how notebooks are written; two models may be compared.
_SEVERAL = 3
_COLLECT = "import gc; gc.collect();"
# Who asks a History for its model keeps both on purpose.
_ASKED_FOR = re.compile(r"(?:hist\w*|\])\.model\b", re.IGNORECASE)


@dataclass
class _Left:
    """Models of the runs of one cell. ways: of the History objects that keep them."""

    models: list[Any] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    ways: list[str] = field(default_factory=list)


class KerasModels:
    """By the cell that made them, all of its runs together."""

    def __init__(self) -> None:
        self._named = _named()
        self._cell = 0
        """The last cell in which Keras gave something a name."""
        self._born: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._identities: dict[int, str] = {}

    def after_cell(self, cell: int, source: str) -> bool:
        """Whether objects of Keras were made."""
        named = _named()
        if named == self._named:
            return False
        self._named, self._cell = named, cell
        self._identities[cell] = identity_of(cell, source)
        return True

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for what waits for the collector, one for what its History keeps."""
        models = _outer_models(look)
        self._note(models, self._cell or look.cell)
        if len(models) < _SEVERAL:
            return
        for left in self._by_cell(_garbage(look, models)):
            yield from self._holder(look, left, GARBAGE, _COLLECT)
        for left in self._by_cell(_kept_by_history(look, models)):
            calls = "".join(f"{way}.set_model(None); " for way in left.ways)
            yield from self._holder(look, left, left.ways[0], calls + _COLLECT)

    def _note(self, models: list[Any], cell: int) -> None:
        alive = {key: it for key, it in self._born.items() if it[0]() is not None}
        self._born = {id(it): alive.get(id(it), (weakref.ref(it), cell)) for it in models}

    def _by_cell(self, found: Iterable[tuple[Any, str]]) -> Iterable[_Left]:
        groups: dict[str, _Left] = {}
        for model, way in found:
            cell = self._born[id(model)][1]
            left = groups.setdefault(self._identities.get(cell, str(cell)), _Left())
            left.models.append(model)
            left.cells.append(cell)
            left.ways.append(way)
        return groups.values()

    def _holder(self, look: Look, left: _Left, how: str, release: str) -> Iterator[_native.Holder]:
        kind = self._kind(left)
        if kind:
            since, count = min(left.cells), len(left.models)
            label = f"{_words(how)} from cell {since} on"
            held = _bytes_of_weights(look, left, how)
            yield _native.Holder(kind, label, held, since, how, count, release)

    def _kind(self, left: _Left) -> str:
        """Empty for a few, which are no pile."""
        if max(left.cells.count(cell) for cell in left.cells) >= _SEVERAL:
            return IN_LOOP
        identities = {self._identities.get(cell) for cell in left.cells}
        # With the latest, which is in use.
        runs = {cell for _, cell in self._born.values() if self._identities.get(cell) in identities}
        runs_left = len(set(left.cells))
        return OF_RUNS if len(runs) >= _SEVERAL and runs_left >= _SEVERAL - 1 else ""


def _named() -> int:
    """How many names Keras gave to models, layers and tensors; by its own counters."""
    module = sys.modules.get("keras.src.backend.common.global_state")
    state = getattr(module, "__dict__", {}).get("GLOBAL_STATE_TRACKER")
    counters = getattr(state, "__dict__", {}).get("object_name_uids")
    return sum(dict.values(counters)) if isinstance(counters, dict) else 0


def _outer_models(look: Look) -> list[Any]:
    """Those that are no part of another one."""
    found = list(instances(look.live, "keras", "Model"))
    inner = {id(fields.get("_functional")) for _, fields in found}
    for _, fields in found:
        layers: Any = fields.get("_layers")
        if issubclass(type(layers), list):
            inner.update(map(id, list.__iter__(layers)))
    return [model for model, _ in found if id(model) not in inner]


def _garbage(look: Look, models: list[Any]) -> Iterator[tuple[Any, str]]:
    """Those that wait for the collector, but what a class of the user's keeps in cycles."""
    outer = {id(it) for it in models}
    for members, kept in look.heap.garbage_cycles(models):
        told = kept >= REPORTED_BYTES and any(is_users_class(type(it)) for it in members)
        yield from ((it, "") for it in members if id(it) in outer and not told)


def _kept_by_history(look: Look, models: list[Any]) -> Iterator[tuple[Any, str]]:
    """(model, way to its History) of those that nothing else keeps."""
    if any(_ASKED_FOR.search(source) for source in look.sources.values()):
        return
    outer = {id(it) for it in models}
    for history, fields in instances(look.live, "keras.src.callbacks.history", "History"):
        model = fields.get("_model")
        if id(model) in outer and look.heap.keeps(history, model):
            way = look.heap.way_to(history)
            if is_the_users(way):
                yield model, way


def _bytes_of_weights(look: Look, left: _Left, how: str) -> int:
    """What their weights and the slots of their optimizers take: those that nothing else has."""
    found = look.heap.led_to(left.models, variables(look))
    if how == GARBAGE:
        found = [it for it in found if not look.heap.is_reached(it)]
    else:
        found = [it for it in found if any(look.heap.keeps(own, it) for own in left.models)]
    return sum(bytes_of_variable(fields_of(it)) for it in found)


def _words(how: str) -> str:
    return "Keras models in garbage" if how == GARBAGE else "Keras models kept by History objects"
