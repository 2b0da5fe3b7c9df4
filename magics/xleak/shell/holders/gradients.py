"""Gradients that keep the graph of the way back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xleak import _native
from xleak.shell import torch_module
from xleak.shell.gradients import (
    GraphGradient,
    Graphs,
    gradients_with_graph,
    orphaned_gradients,
)
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.places import container_of
from xleak.shell.modules import entries_of, live_modules, parts_of

_OWNED = "gradients with a graph"
_ORPHANED = "orphaned gradients"
_ORPHANS = "Parameters that no name reaches"


@dataclass
class _Owned:
    """The gradients of one owner, and the code that lets go of them."""

    gradients: list[GraphGradient]
    release: str


class GradientsWithGraph:
    """Those of a module or a container once they outlived the cell that made them: until then they
    may be used."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """By owner."""
        gradients = gradients_with_graph(look.live)
        owned = _by_owner(look, gradients) if gradients and torch_module.load() else {}
        self._since = {owner: self._since.get(owner, look.cell) for owner in owned}
        graphs = Graphs(look.heap, look.live) if owned else None
        for owner, its in owned.items():
            freed = graphs.freed_with([it.gradient for it in its.gradients]) if graphs else 0
            since, count = self._since[owner], len(its.gradients)
            if freed >= REPORTED_BYTES and since == look.cell:
                look.search_again()
            elif freed >= REPORTED_BYTES:
                yield _native.Holder(_OWNED, owner, freed, since, _told(count), count, its.release)


def _by_owner(look: Look, gradients: list[GraphGradient]) -> dict[str, _Owned]:
    """By the expression of the outermost module, or of the container, that has the leaves."""
    modules = _leaves_by_module(look)
    owned: dict[str, _Owned] = {}
    for it in gradients:
        module = next((way for way, leaves in modules.items() if id(it.leaf) in leaves), None)
        way = look.heap.way_to(it.leaf)
        if module is not None:
            release = f"{module}.zero_grad(set_to_none=True)"
            owned.setdefault(module, _Owned([], release)).gradients.append(it)
        elif is_the_users(way):
            its = owned.setdefault(container_of(way) or way, _Owned([], ""))
            its.gradients.append(it)
            its.release += f"{'; ' if its.release else ''}{way}.grad = None"
    return owned


def _leaves_by_module(look: Look) -> dict[str, set[int]]:
    """By the expression of a module of the user's that is in no other one: ids of its Parameters."""
    modules = live_modules(look.live)
    inner = {id(child) for it in modules for child in entries_of(it, "_modules").values()}
    ways = {look.heap.way_to(it): it for it in modules if id(it) not in inner}
    return {
        way: {
            id(leaf) for part in parts_of(it) for leaf in entries_of(part, "_parameters").values()
        }
        for way, it in ways.items()
        if is_the_users(way)
    }


def orphans(look: Look) -> Iterator[_native.Holder]:
    """Those of Parameters whose model is gone."""
    found = orphaned_gradients(look.heap, look.live)
    if found:
        tensors = [tensor for it in found for tensor in (it.leaf, it.gradient)]
        freed = Graphs(look.heap, look.live).freed_with(tensors)
        count, release = len(found), "%release_cache --gradients"
        yield _native.Holder(_ORPHANED, _ORPHANS, freed, None, _told(count), count, release)


def _told(count: int) -> str:
    return "1 gradient" if count == 1 else f"{count} gradients"
