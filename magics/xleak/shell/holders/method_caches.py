"""Caches of methods that keep the objects they were called on."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from xleak import _native
from xleak.shell.fields import class_fields, fields_of
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users

_CACHE = type(functools.lru_cache(lambda: None))


def method_caches(look: Look) -> Iterator[_native.Holder]:
    """Those that a name leads to and that keep much."""
    heap = look.heap
    caches = [cache for cache in look.live.instances(_CACHE) if _is_of_a_class(cache)]
    kept_by = heap.keeping(caches, REPORTED_BYTES)
    held_bytes = {id(cache): held for cache, held in kept_by}
    ways = {id(cache): heap.way_to(cache) for cache, _ in kept_by}
    named = {it for it, way in ways.items() if is_the_users(way)}
    for owner, cache in _classes_with(look, named):
        kept = [it for it in look.live.instances(owner) if heap.keeps(cache, it)]
        way, held = ways[id(cache)], held_bytes[id(cache)]
        if kept:
            type_name = _native.type_name(kept[0])
            release = f"{way}.cache_clear()"
            yield _native.Holder("method cache", way, held, None, type_name, len(kept), release)


def _is_of_a_class(cache: object) -> bool:
    """Whether the name of the cached function, `Class.method`, is that of a method."""
    name = fields_of(cache).get("__qualname__")
    return type(name) is str and "." in name.rpartition("<locals>.")[2]


def _classes_with(look: Look, caches: set[int]) -> Iterator[tuple[type, object]]:
    """(class, cache) for the caches with these identities that a class has as methods."""
    if not caches:
        return
    for owner in look.live.instances(type):
        for value in class_fields(owner).copy().values():
            if id(value) in caches:
                yield owner, value
