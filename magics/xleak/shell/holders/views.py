"""Small views that keep the large memory behind them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.fields import loaded_class
from xleak.shell.holders.look import LEAST_BYTES, REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.places import as_written, parent_of, replacing, tuples_to, value_at
from xleak.shell.tensor_fields import is_tensor

# What shows a larger part is worth its memory.
_FRACTION = 4
# To know what a container alone keeps takes a search through the heap.
_MOST = 10
# More are replaced in one statement.
_FEW = 3
# What is kept, by how a view of it is copied and whether there are several.
_KEPT = {
    ("clone", False): "the storage of the tensor that it was cut from",
    ("clone", True): "the storages of the tensors that they were cut from",
    ("copy", False): "the memory of the array or tensor that it was cut from",
    ("copy", True): "the memory of the arrays or tensors that they were cut from",
}


@dataclass(frozen=True)
class Views:
    """The views of one kind in one container, or one that has a name of its own."""

    label: str
    copying: str
    """How one of them is copied: `clone` or `copy`."""
    views: list[_native.PinnedView]

    @property
    def shown(self) -> int:
        return sum(view.shown for view in self.views)


class PinnedViews:
    """Views that show little of what they keep, once they outlived the cell that made them."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """Those that were there at an earlier cell too."""
        found = [(views, _wasted(look, views)) for views in _largest(look)]
        found = [(views, wasted) for views, wasted in found if wasted >= REPORTED_BYTES]
        self._since = {it.label: self._since.get(it.label, look.cell) for it, _ in found}
        for views, wasted in found:
            since = self._since[views.label]
            if since == look.cell:
                look.search_again()
            elif release := _release(look.watcher.shell.user_ns, views):
                yield _holder(views, wasted, since, release)


def _holder(views: Views, wasted: int, since: int, release: str) -> _native.Holder:
    count, label = len(views.views), as_written(views.label)
    kind, kept = "views" if count > 1 else "view", _KEPT[views.copying, count > 1]
    return _native.Holder(kind, label, wasted, since, kept, count, release, views.shown)


def _largest(look: Look) -> list[Views]:
    groups: dict[tuple[str, str], list[_native.PinnedView]] = {}
    for view in look.heap.pinned_views(LEAST_BYTES, _FRACTION):
        copying = _copying(look, view) if is_the_users(view.way) else ""
        if copying:
            container = parent_of(view.way) if view.way.endswith("]") else view.way
            groups.setdefault((container, copying), []).append(view)
    found = [
        Views(container if len(views) > 1 else views[0].way, how, views)
        for (container, how), views in groups.items()
    ]
    found = [it for it in found if sum(view.behind for view in it.views) >= REPORTED_BYTES]
    found.sort(key=lambda it: -sum(view.behind for view in it.views))
    return found[:_MOST]


def _copying(look: Look, view: _native.PinnedView) -> str:
    """How it is copied; empty for what is neither a tensor nor a plain array."""
    value = value_at(look.watcher.shell.user_ns, view.way)
    if id(value) != view.object:
        return ""
    array = loaded_class("numpy", "ndarray")
    if array is not None and type(value) is array:
        return "copy"
    return "clone" if is_tensor(value) else ""


def _wasted(look: Look, it: Views) -> int:
    """What copies in their places would give back."""
    namespace = look.watcher.shell.user_ns
    tuples = [held for view in it.views for held in tuples_to(namespace, view.way)]
    if any(look.heap.holders_of(held) > 1 for held in tuples):
        return 0
    freed = look.heap.freed_by_copying([view.object for view in it.views])
    return freed - it.shown if freed >= _FRACTION * it.shown else 0


def _release(namespace: dict[str, Any], it: Views) -> str | None:
    value, place = value_at(namespace, it.label), as_written(it.label)
    if type(value) is list and list.__len__(value) == len(it.views):
        return f"{place}[:] = [v.{it.copying}() for v in {place}]"
    if type(value) is dict and dict.__len__(value) == len(it.views):
        return f"{place}.update({{k: v.{it.copying}() for k, v in {place}.items()}})"
    if type(value) is list and len(it.views) > _FEW:
        # The last element of a loop often has a name too, and is no view of what nobody shows.
        at = ", ".join(map(str, sorted(int(v.way[len(it.label) + 1 : -1]) for v in it.views)))
        return f"{place}[:] = [v.{it.copying}() if n in {{{at}}} else v for n, v in enumerate({place})]"
    ways = [view.way for view in it.views]
    return replacing(namespace, ways, lambda way: f"{way}.{it.copying}()")
