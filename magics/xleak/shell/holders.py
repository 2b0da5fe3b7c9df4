"""Who keeps memory beside the user's names: found in the heap where a cell made it likely."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell.heap import FIGURES, figures, take_snapshot
from xleak.shell.tracebacks import LAST_TRACEBACK

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.shell.watcher import Watcher

# A cell that moved less leaves nothing to look for.
_SUSPECT_BYTES = 1 << 20
# Where a cell wants memory back, it matters whether it came.
_LETS_GO = re.compile(r"\bdel\b|=\s*None\b|\.(?:pop|clear|close)\(")
# Graphs cannot be left and taken up again: so much of the time before a reply, or of a pause.
_GRAPHS_MS = 10.0
_ALL_GRAPHS_MS = 1000.0
# Where to know more takes another search, it is left where no finding can come of it.
_REPORTED_BYTES = 1 << 20
_IN_LIBRARY = re.compile(r"sys\.modules\b")
# Less never becomes a finding.
_LEAST_BYTES = 64 << 10
# Fewer are a comparison of models, not a history.
_SEVERAL = 3
# A number of any type.
_SCALAR_BYTES = 16
_CACHE = type(functools.lru_cache(lambda: None))
_TO_LOCALS = re.compile(r"(?:\.__\w+__|\.tb_next|\.tb_frame|\.f_back)+\.f_locals\['([^']*)'\]")
# An expression of the user's, which a repair may be made of.
_EXPRESSION = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*|\[\d+\]|\['[^'\\]*'\])*")
# The last step into a list, a tuple or a dictionary.
_ELEMENT = re.compile(r"(.+)(?:\[\d+\]|\['[^'\\]*'\])")


class Holders:
    """The facts of the last search, and whether it is time for another."""

    def __init__(self) -> None:
        self.facts: list[_native.Holder] = []
        self.suspected = False
        """Whether the next look() searches."""
        self._failed_cell: int | None = None
        self._cost_ms = 0.0
        self._graphs_since: dict[str, int] = {}

    def after_cell(self, index: int, source: str, shell: InteractiveShell) -> None:
        """Looks at the cell's counters, and whether its code raised or lets go of something."""
        record, result = _native.record(index), shell.last_execution_result
        failed = result is not None and result.error_in_exec is not None
        if failed:
            self._failed_cell = index
        if failed or _moved(record) or _LETS_GO.search(source):
            self.suspect()

    def suspect(self) -> None:
        """Something may be kept: the next look() searches."""
        self.suspected = True

    def look(
        self,
        watcher: Watcher,
        index: int,
        deadline_ms: float | None,
        interrupted: Callable[[], bool] | None,
    ) -> bool:
        """Searches the heap after cell `index`, where something is suspected. False: it takes
        another call."""
        if not self.suspected:
            return True
        if deadline_ms is not None and self._cost_ms > deadline_ms:
            return False
        start = time.perf_counter()
        somebody_waits = deadline_ms is not None or interrupted is not None
        graphs_ms = _GRAPHS_MS if somebody_waits else _ALL_GRAPHS_MS
        heap = take_snapshot(watcher, deadline_ms, interrupted, graphs_ms)
        if heap is not None:
            self.suspected = False
            self.facts = [*self._tracebacks(heap), *_caches(heap), *_exceptions(heap)]
            self.facts += [*_figures(heap), *self._graphs(heap, index)]
        self._cost_ms = (time.perf_counter() - start) * 1000
        return heap is not None

    def _graphs(self, heap: _native.HeapSnapshot, index: int) -> Iterator[_native.Holder]:
        """Containers of tensors that keep their graphs, once they outlived the cell that filled them:
        until then they may be summed and led back."""
        containers = _containers_of_graphs(heap)
        self._graphs_since = {way: self._graphs_since.get(way, index) for way in containers}
        for way, graphs in containers.items():
            if self._graphs_since[way] == index:
                # The next cell shows whether they stay.
                self.suspected = True
                continue
            kept = sum(graph.kept for graph in graphs)
            scalar = all(graph.own <= _SCALAR_BYTES for graph in graphs)
            kind = "graphs of scalars" if scalar else "graphs of tensors"
            since = self._graphs_since[way]
            yield _native.Holder(
                kind, way, kept, since, "autograd graphs", len(graphs), _detaching(way)
            )

    def _tracebacks(self, heap: _native.HeapSnapshot) -> Iterator[_native.Holder]:
        held = heap.retained_bytes(LAST_TRACEBACK)
        if held >= _LEAST_BYTES:
            ways = [way for way, _ in heap.largest(LAST_TRACEBACK, 1)]
            largest = in_words(ways[0]) if ways else ""
            yield _native.Holder(
                "traceback", LAST_TRACEBACK, held, self._failed_cell, largest, 1, "%release_cache"
            )


def _is_the_users(way: str) -> bool:
    """Whether a way is an expression that starts at a name of the user's; a library's starts at
    sys.modules."""
    return bool(_EXPRESSION.fullmatch(way)) and not _IN_LIBRARY.match(way)


def in_words(way: str) -> str:
    """A way through frames as its user knows it: the local alone and what it leads to."""
    *_, last = _TO_LOCALS.split(way)
    found = list(_TO_LOCALS.finditer(way))
    return f"local {found[-1].group(1)}{last}" if found else way


def _moved(record: _native.CellRecord | None) -> bool:
    """Whether memory changed much over a cell, by any counter; so too where nothing is known."""
    if record is None or record.heap_kept_bytes is None:
        return True
    before, after = record.resident_before_bytes, record.resident_after_bytes
    resident = 0 if before is None or after is None else after - before
    return max(abs(record.heap_kept_bytes), abs(resident)) >= _SUSPECT_BYTES


# --- graphs ----------------------------------------------------------------------------------


def _containers_of_graphs(heap: _native.HeapSnapshot) -> dict[str, list[_native.GraphBytes]]:
    """By the expression of a container: those of its elements whose graphs keep much."""
    containers: dict[str, list[_native.GraphBytes]] = {}
    for graph in heap.graphs(_LEAST_BYTES):
        element = _ELEMENT.fullmatch(graph.way)
        if element and _is_the_users(element.group(1)):
            containers.setdefault(element.group(1), []).append(graph)
    return {way: graphs for way, graphs in containers.items() if len(graphs) >= _SEVERAL}


def _detaching(way: str) -> str:
    """Code that leaves a list or a dictionary its values and takes their graphs."""
    bare = "getattr(v, 'detach', lambda v=v: v)()"
    return (
        f"{way}.update({{k: {bare} for k, v in {way}.items()}}) if isinstance({way}, dict) "
        f"else {way}.__setitem__(slice(None), [{bare} for v in {way}])"
    )


# --- method caches ---------------------------------------------------------------------------


def _caches(heap: _native.HeapSnapshot) -> Iterator[_native.Holder]:
    """Caches of methods that keep the objects they were called on."""
    caches = [cache for cache in _native.live_instances(_CACHE) if _is_of_a_class(cache)]
    large = [cache for cache in caches if heap.retained_by(cache) >= _REPORTED_BYTES]
    ways = {id(cache): heap.way_to(cache) for cache in large}
    named = {it for it, way in ways.items() if _is_the_users(way)}
    for owner, cache in _classes_with(named):
        kept = [it for it in _native.live_instances(owner) if heap.keeps(cache, it)]
        way, held = ways[id(cache)], heap.retained_by(cache)
        if kept:
            type_name = _native.type_name(kept[0])
            release = f"{way}.cache_clear()"
            yield _native.Holder("method cache", way, held, None, type_name, len(kept), release)


def _is_of_a_class(cache: object) -> bool:
    """Whether the name of the cached function, `Class.method`, is that of a method."""
    attributes: Any = _CACHE.__dict__["__dict__"]
    name = attributes.__get__(cache).get("__qualname__")
    return type(name) is str and "." in name.rpartition("<locals>.")[2]


def _classes_with(caches: set[int]) -> Iterator[tuple[type, object]]:
    """(class, cache) for the caches with these identities that a class has as methods."""
    if not caches:
        return
    attributes: Any = type.__dict__["__dict__"]
    for owner in _native.live_instances(type):
        for value in list(attributes.__get__(owner).values()):
            if id(value) in caches:
                yield owner, value


# --- stored exceptions -----------------------------------------------------------------------


def _exceptions(heap: _native.HeapSnapshot) -> Iterator[_native.Holder]:
    """Exceptions that the user's objects keep with their tracebacks."""
    errors = _native.live_instances(BaseException)
    linked = {id(inner) for error in errors for inner in chain_of(error)[1:]}
    for error in errors:
        if id(error) in linked or not any(_frames_of(it) for it in chain_of(error)):
            continue
        held = heap.retained_by(error)
        way = heap.way_to(error) if held >= _LEAST_BYTES else ""
        if _is_the_users(way):
            name = _native.type_name(error)
            release = "; ".join(f"{way}{link}.__traceback__ = None" for link in _links(error))
            yield _native.Holder("exception", way, held, None, name, len(chain_of(error)), release)


def chain_of(error: BaseException) -> list[BaseException]:
    """An exception and those that follow along __cause__ and __context__."""
    return [linked for linked, _ in _walk(error)]


def _links(error: BaseException) -> list[str]:
    """How each of the chain is reached from the first, where it has frames."""
    return [link for linked, link in _walk(error) if _frames_of(linked)]


def _walk(error: BaseException) -> list[tuple[BaseException, str]]:
    # Unbound, because a class of the user's may have attributes of its own making.
    links: dict[str, Any] = {
        ".__cause__": BaseException.__cause__,
        ".__context__": BaseException.__context__,
    }
    chain = [(error, "")]
    for current, way in chain:
        for link, attribute in links.items():
            inner = attribute.__get__(current)
            if inner is not None and all(inner is not known for known, _ in chain):
                chain.append((inner, way + link))
    return chain


def _frames_of(error: BaseException) -> Any:
    frames: Any = BaseException.__traceback__
    return frames.__get__(error)


# --- figures ---------------------------------------------------------------------------------


def _figures(heap: _native.HeapSnapshot) -> Iterator[_native.Holder]:
    held = heap.retained_bytes(FIGURES)
    if held >= _LEAST_BYTES:
        # Figures are cycles, which wait for the collector.
        release = '__import__("matplotlib.pyplot").pyplot.close("all"); __import__("gc").collect();'
        yield _native.Holder("figures", FIGURES, held, None, "Figure", len(figures()), release)
