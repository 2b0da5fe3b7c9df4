"""Caches of functions that have no bound."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.fields import ancestors_of, class_fields, class_name, dictionary_of
from xleak.shell.holders.containers import is_plain
from xleak.shell.holders.growth_history import GrowthHistory, Observed
from xleak.shell.holders.look import LEAST_BYTES, REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.sign_reader import Signs
from xleak.shell.holders.signs import SourceSigns
from xleak.shell.tensor_fields import is_tensor

_CACHE = type(functools.lru_cache(lambda: None))
# Fewer misses may be the first round of calls.
_MANY_MISSES = 20
_FEW_HITS = 0.05
# Share of the entries: a type of which so many have a distinct object explains the misses.
_MOSTLY = 0.5


@dataclass(frozen=True)
class _Cache:
    object: Any
    way: str
    kept: int
    hits: int
    misses: int
    count: int

    @property
    def name(self) -> str:
        """Of the function."""
        return self.way.rpartition(".")[2]

    @property
    def hardly_hits(self) -> bool:
        """Whether it was asked often and mostly in vain."""
        return self.misses >= _MANY_MISSES and self.hits < _FEW_HITS * self.misses


class UnboundedCaches:
    """Those of functools without a limit that grow with every execution, or that never hit."""

    def __init__(self, signs: SourceSigns) -> None:
        self._history = GrowthHistory()
        self._signs = signs

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each."""
        caches = {it.way: it for it in _caches(look)}
        latest = self._signs.of_latest(look) if caches else Signs()
        seen = [
            Observed(way, id(it.object), it.count, it.kept, it.name in latest.bound, False)
            for way, it in caches.items()
        ]
        grown = self._history.grown(look, seen)
        signs = self._signs.of_session(look) if caches else Signs()
        for way, it in caches.items():
            if it.kept < REPORTED_BYTES or signs.bounded(it.name):
                continue
            if it.hardly_hits or (way in grown and not _has_plain_results(it.object)):
                kind, what = _kind_of(it) if it.hardly_hits else ("growing cache", it.name)
                release = f"{way}.cache_clear()"
                since = self._signs.cell_that_binds(it.name)
                yield _native.Holder(kind, way, it.kept, since, what, it.count, release)


def _kind_of(it: _Cache) -> tuple[str, str]:
    """The kind of a cache without hits, and the types of the arguments that were new."""
    asked = _new_arguments(it.object)
    identities = [argument for argument in asked if is_compared_by_identity(argument)]
    kind = "cache of identities" if identities else "cache without hits"
    names = sorted({class_name(type(argument)) for argument in identities or asked})
    return kind, " and ".join(f"`{name}`" for name in names)


def _new_arguments(cache: Any) -> list[object]:
    """One argument of each type of which most entries have a distinct object."""
    keys = [key for table in _tables(cache) for key, _ in _native.items_of(table)]
    # By id: a metaclass may have a hash of its own.
    of_type: dict[int, dict[int, object]] = {}
    for argument in (it for key in keys for it in _arguments(key)):
        of_type.setdefault(id(type(argument)), {})[id(argument)] = argument
    return [next(iter(it.values())) for it in of_type.values() if len(it) > _MOSTLY * len(keys)]


def _arguments(key: object) -> Iterator[object]:
    """Those of a call: a key is the tuple of them, or the only one. A plain `object()` stands
    before the names and values of keywords."""
    parts = key if type(key) is tuple else (key,)
    yield from (it for it in parts if type(it) is not object)


def is_compared_by_identity(argument: object) -> bool:
    owner = next(it for it in ancestors_of(type(argument)) if "__hash__" in class_fields(it))
    return owner is object or is_tensor(argument)


def _has_plain_results(cache: Any) -> bool:
    return all(is_plain(_native.values_of(table)) for table in _tables(cache))


def _tables(cache: Any) -> list[dict[Any, Any]]:
    own = dictionary_of(cache)
    # By tp_traverse: the table by key is no attribute.
    return [it for it in gc.get_referents(cache) if type(it) is dict and it is not own]


def _caches(look: Look) -> Iterator[_Cache]:
    for cache, kept in look.heap.keeping(look.live.instances(_CACHE), LEAST_BYTES):
        info = _CACHE.cache_info(cache)
        way = look.heap.way_to(cache) if info.maxsize is None else ""
        if is_the_users(way):
            yield _Cache(cache, way, kept, info.hits, info.misses, info.currsize)
