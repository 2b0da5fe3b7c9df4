"""Futures and tasks whose results nobody else has."""

from __future__ import annotations

import ast
import functools
import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.fields import instances, is_text, loaded_class
from xleak.shell.holders.look import LEAST_BYTES, Look, may_be_released
from xleak.shell.source import parsed

_CONTAINERS = (list, dict, set, deque)
# What takes a result out of a future. Waiting for it alone does not.
_READS = re.compile(r"\.(?:result|get)\(|\bgather\(|\bawait\s+(?!asyncio\.(?:sleep|wait)\b)")
# Others only have statements in them, of which one may read and another submit.
_STATEMENTS = (
    *(ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Assert),
    *(ast.For, ast.AsyncFor, ast.While),
)
_NAME = re.compile(r"[^\W\d]\w*")


class ReadFutures:
    """Futures that still keep a result which a cell has read, once they outlived a cell."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """By container; those that were there at an earlier cell too."""
        groups = {way: found for way, found in _groups(look) if _was_read(way, look)}
        self._since = {way: self._since.get(way, look.cell) for way in groups}
        for way, (release, futures) in groups.items():
            if self._since[way] == look.cell:
                look.search_again()
                continue
            held = sum(held for _, held in futures)
            name = _native.type_name(futures[0][0])
            since = self._since[way]
            kind = "futures" if len(futures) > 1 else "future"
            yield _native.Holder(kind, way, held, since, name, len(futures), release)


# A future, and the bytes of its result that go with it.
_Kept = tuple[object, int]


def _groups(look: Look) -> Iterator[tuple[str, tuple[str, list[_Kept]]]]:
    """(expression, (code that lets go, futures)) of the containers, and of the single ones."""
    done = list(_done(look.live))
    kept = {id(future): (future, held) for future, held in _keeping(look.heap, done)}
    if not kept:
        return
    ended = {id(future) for future, _ in done}
    alone = dict(kept)
    for container in gc.get_referrers(*[future for future, _ in kept.values()]):
        way = look.heap.way_to(container) if _native.is_exactly(container, _CONTAINERS) else ""
        members = _members(container, ended) if _may_be_cleared(way) else []
        found = [alone.pop(it) for it in members if it in alone]
        found = [(it, held) for it, held in found if look.heap.keeps(container, it)]
        if found:
            yield way, (f"{way}.clear()", found)
    for future, held in alone.values():
        way = look.heap.way_to(future)
        if _may_be_cleared(way) and look.heap.retained_bytes(way) >= held:
            yield way, (f"del {way}", [(future, held)])


def _members(container: Any, ended: set[int]) -> list[int]:
    """The identities of what stands in a container, where all of it are futures that ended."""
    keys = [key for key, _ in _native.items_of(container)]
    candidates = [keys, _native.values_of(container)]
    for members in candidates:
        if members and all(id(it) in ended for it in members):
            return [id(it) for it in members]
    return []


def _may_be_cleared(way: str) -> bool:
    """Not what is in the output cache, which has a smell of its own."""
    return may_be_released(way) and not way.startswith("Out[")


def _keeping(heap: _native.HeapSnapshot, done: list[tuple[object, object]]) -> Iterator[_Kept]:
    for future, result in done:
        held = heap.retained_by(result)
        if held >= LEAST_BYTES and heap.keeps(future, result):
            yield future, held


def _done(live: _native.LiveObjects) -> Iterator[tuple[object, object]]:
    """(future, result) of those that ended well, read past what a subclass may have made of it."""
    for future, fields in instances(live, "concurrent.futures._base", "Future"):
        if is_text(fields.get("_state"), "FINISHED"):
            yield future, fields.get("_result")
    for future, fields in instances(live, "multiprocessing.pool", "ApplyResult"):
        if fields.get("_pool", future) is None and fields.get("_success") is True:
            yield future, fields.get("_value")
    base: Any = loaded_class("_asyncio", "Future")
    for future in live.instances(base) if base is not None else []:
        if base._state.__get__(future) == "FINISHED":
            yield future, base._result.__get__(future)


def _was_read(way: str, look: Look) -> bool:
    """Whether a statement that has a name of the way in it takes results."""
    names = set(_NAME.findall(way))
    return any(
        _READS.search(source) and not names.isdisjoint(_names_read(source))
        for source in look.sources.values()
    )


@functools.lru_cache(maxsize=256)
def _names_read(source: str) -> frozenset[str]:
    """The names in the statements and loops of a cell that take results."""
    tree = parsed(source)
    nodes = ast.walk(tree) if tree else ()
    texts = [ast.unparse(it) for it in nodes if isinstance(it, _STATEMENTS)]
    return frozenset(name for text in texts if _READS.search(text) for name in _NAME.findall(text))
