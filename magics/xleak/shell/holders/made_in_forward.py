"""Layers that forward passes make and leave in a container of their module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.fields import ancestors_of, class_fields, class_name, fields_of
from xleak.shell.holders.containers import elements_of, is_collection, is_users_class
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.pass_code import attributes_filled
from xleak.shell.holders.places import as_written
from xleak.shell.holders.signs import SourceSigns
from xleak.shell.modules import entries_of, is_module, live_modules, parts_of

_KIND = "layers of forward passes"
# One or two of a kind may be a pair that belongs together.
_LAYERS = 3
_PARTS = (list, tuple, dict, set)
# Of containers in containers.
_DEPTH = 2


class MadeInForward:
    """Told by the container, where nothing but it keeps the layers and no optimizer can know them:
    they are no part of their module."""

    def __init__(self, signs: SourceSigns) -> None:
        self._signs = signs

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each container."""
        told: set[int] = set()
        for owner in live_modules(look.live):
            if not is_users_class(type(owner)):
                continue
            for name, container in _containers_of(owner):
                layers = _strangers(owner, container) if id(container) not in told else []
                if len(layers) >= _LAYERS and self._is_filled_by_passes(look, owner, name):
                    told.add(id(container))
                    yield from self._told(look, name, container, layers)

    def _is_filled_by_passes(self, look: Look, owner: object, name: str) -> bool:
        signs = self._signs.of_session(look)
        classes = [class_name(it) for it in ancestors_of(type(owner)) if is_users_class(it)]
        if name in signs.looked_up or signs.bounded(name) or "" in signs.filled.get(name, ()):
            return False
        return name in attributes_filled(look.sources.values(), classes)

    def _told(
        self, look: Look, name: str, container: Any, layers: list[Any]
    ) -> Iterator[_native.Holder]:
        kept = look.heap.retained_by(container)
        way = look.heap.way_to(container) if kept >= REPORTED_BYTES else ""
        layers = [it for it in layers if way and look.heap.keeps(container, it)]
        layer, count = _most_of_a_kind(layers)
        if count >= _LAYERS and is_the_users(way):
            look.explained.add(way)
            label, since = as_written(way), self._signs.cell_that_fills(name)
            release = f"{label}.clear()"
            yield _native.Holder(_KIND, label, kept, since, layer, count, release)


def _containers_of(owner: Any) -> Iterator[tuple[str, Any]]:
    """(attribute, container) of a module and of its classes."""
    for base in ancestors_of(type(owner)):
        if is_users_class(base):
            yield from _collections(class_fields(base).copy())
    yield from _collections(fields_of(owner))


def _collections(fields: Any) -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        # What torch sets up for every module starts so, and holds no layer of a pass.
        if type(name) is str and not name.startswith("__") and is_collection(value):
            yield name, value


def _strangers(owner: Any, container: Any) -> list[Any]:
    """The modules in a container that have weights of which the owner knows none."""
    own = {id(it) for it in _weights_of(owner)}
    found = {id(it): it for it in _modules_in(container, _DEPTH)}
    return [it for it in found.values() if _has_only_others(it, own)]


def _has_only_others(module: Any, own: set[int]) -> bool:
    weights = {id(it) for it in _weights_of(module)}
    return bool(weights) and weights.isdisjoint(own)


def _modules_in(container: Any, depth: int) -> Iterator[Any]:
    for element in elements_of(container):
        if is_module(element):
            yield element
        elif depth and _native.is_exactly(element, _PARTS):
            yield from _modules_in(element, depth - 1)


def _weights_of(module: Any) -> Iterator[Any]:
    for part in parts_of(module):
        yield from (it for it in entries_of(part, "_parameters").values() if it is not None)


def _most_of_a_kind(layers: list[Any]) -> tuple[str, int]:
    counted = Counter(_native.type_name(it) for it in layers).most_common(1)
    return counted[0] if counted else ("", 0)
