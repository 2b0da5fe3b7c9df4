"""Optimizers that a container keeps and that have nothing to do any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of, is_instance
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.optimizers import live_optimizers, weights_of
from xleak.shell.holders.places import first_container_of, value_at
from xleak.shell.modules import entries_of, live_modules

_SCHEDULER = ("torch.optim.lr_scheduler", "LRScheduler")
# A pair may take turns at the same weights.
_TURNS = 3
# A tensor alone may be what is learned, such as an image; a model has more.
_WEIGHTS = 2


@dataclass(frozen=True)
class _Kept:
    """An optimizer, for the time of a look."""

    object: Any
    way: str
    weights: list[Any]
    has_state: bool


class KeptOptimizers:
    """By the container: optimizers of models that are gone, or of the same weights."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each container and kind."""
        groups: dict[tuple[str, str], list[_Kept]] = {}
        for kind, it in _of_no_use(look):
            groups.setdefault((kind, first_container_of(it.way)), []).append(it)
        found = {key: its for key, its in groups.items() if key[1] and len(its) >= _TURNS}
        self._since = {way: self._since.get(way, look.cell) for _, way in found}
        for (kind, way), its in found.items():
            held = look.heap.freed_without([it.object for it in its])
            if held >= REPORTED_BYTES:
                look.explained.add(way)
                release = _release(look, way, {id(it.object) for it in its})
                since, name = self._since[way], _native.type_name(its[0].object)
                yield _native.Holder(kind, way, held, since, name, len(its), release)


def _of_no_use(look: Look) -> Iterator[tuple[str, _Kept]]:
    """(kind, optimizer) of those that a container of the user's leads to."""
    found = _optimizers(look)
    if len(found) < _TURNS:
        return
    owned = _weights_of_modules(look)
    same: dict[Any, list[_Kept]] = {}
    for it in found:
        weights = tuple(id(weight) for weight in it.weights)
        if len(weights) >= _WEIGHTS and owned.isdisjoint(weights):
            if all(look.heap.keeps(it.object, weight) for weight in it.weights):
                yield "optimizers without a model", it
        elif it.has_state:
            same.setdefault((id(type(it.object)), weights), []).append(it)
    for its in same.values():
        # The one that has a name, or else the latest, is in use.
        yield from (("optimizers of the same weights", it) for it in its[:-1])


def _optimizers(look: Look) -> list[_Kept]:
    """In the order of the containers that have them, those with names of their own last."""
    found = []
    for it, fields in live_optimizers(look.live):
        way = look.heap.way_to(it)
        if is_the_users(way):
            state: Any = fields.get("state")
            has_state = bool(_native.items_of(state, 0, 1))
            found.append(_Kept(it, way, weights_of(fields), has_state))
    return sorted(
        found,
        key=lambda it: (
            not first_container_of(it.way),
            first_container_of(it.way),
            len(it.way),
            it.way,
        ),
    )


def _weights_of_modules(look: Look) -> set[int]:
    modules = live_modules(look.live)
    return {id(it) for module in modules for it in entries_of(module, "_parameters").values()}


def _release(look: Look, way: str, surplus: set[int]) -> str:
    """Code that lets go of these alone; empty where another holder would keep them."""
    container = value_at(look.watcher.shell.user_ns, way)
    if not _native.is_exactly(container, (list, dict)):
        return ""
    elements = _native.values_of(container)
    of_no_use = [_optimizer_of(it) in surplus for it in elements]
    count = sum(of_no_use)
    kept = {id(it) for it, _ in live_optimizers(look.live) if look.heap.keeps(container, it)}
    if count != len(surplus) or not kept >= surplus:
        return ""
    if count == len(elements):
        return f"{way}.clear()"
    if not all(of_no_use[:count]):
        return ""
    if type(container) is list:
        return f"del {way}[:{count}]"
    return f"[{way}.pop(it) for it in list({way})[:{count}]];"


def _optimizer_of(element: Any) -> int:
    """The identity of an optimizer, or of the one that a scheduler has."""
    if is_instance(element, *_SCHEDULER):
        return id(fields_of(element).get("optimizer"))
    return id(element)
