"""Small views that keep the large memory behind them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from xleak import _native
from xleak.shell.fields import is_instance, loaded_class
from xleak.shell.holders.containers import is_users_class
from xleak.shell.holders.look import LEAST_BYTES, REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.places import (
    as_written,
    in_deque,
    parent_of,
    replacing,
    tuples_to,
    value_at,
)
from xleak.shell.tensor_fields import is_tensor

# What shows a larger part is worth its memory.
_FRACTION = 4
# To know what a container alone keeps takes a search through the heap.
_MOST = 10
# More are replaced in one statement.
_FEW = 3
# Of a table the rows are taken one by one: what else Arrow and Polars call a copy has the same buffers.
_TAKING = "{}.take(list(range(len({}))))"
_ARRAY = ("memory of the array or tensor", "memory of the arrays or tensors")
_TABLE = ("memory of the table or series", "memory of the tables or series")
_BUFFERS = ("buffers of the table", "buffers of the tables")
# By class: what is kept, of one and of several, and how it is copied.
_COPIES = (
    ("numpy", "ndarray", _ARRAY, "{}.copy()"),
    ("pandas", "DataFrame", _TABLE, "{}.copy()"),
    ("pandas", "Series", _TABLE, "{}.copy()"),
    ("pandas", "Index", _TABLE, "{}.copy(deep=True)"),
    ("pyarrow.lib", "Table", _BUFFERS, _TAKING),
    ("pyarrow.lib", "RecordBatch", _BUFFERS, _TAKING),
    ("pyarrow.lib", "ChunkedArray", _BUFFERS, _TAKING),
    ("pyarrow.lib", "Array", _BUFFERS, _TAKING),
)
_OF_TENSORS = (("storage of the tensor", "storages of the tensors"), "{}.clone()")
_OF_WINDOWS = (("memory", "memory"), "{}.tobytes()")


@dataclass(frozen=True)
class Views:
    """The views of one kind in one container, or one that has a name of its own."""

    label: str
    what: tuple[str, str]
    """What one of them keeps, and what several do."""
    copying: str
    """How one of them is copied: `{}.clone()`."""
    views: list[_native.PinnedView]

    @property
    def shown(self) -> int:
        return sum(view.shown for view in self.views)

    @property
    def ways(self) -> list[str]:
        """The expressions of those that show something; a table may have several views."""
        return list(dict.fromkeys(view.way for view in self.views))

    def copy_of(self, value: str) -> str:
        """Code that copies a value."""
        return self.copying.replace("{}", value)


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
    count, label = len(views.ways), as_written(views.label)
    several = count > 1
    kind = "views" if several else "view"
    kept = f"the {views.what[several]} that {'they were' if several else 'it was'} cut from"
    return _native.Holder(kind, label, wasted, since, kept, count, release, views.shown)


def _largest(look: Look) -> list[Views]:
    groups: dict[tuple[str, tuple[str, str], str], list[_native.PinnedView]] = {}
    for view in look.heap.pinned_views(LEAST_BYTES, _FRACTION):
        copy = _copy(look, view) if is_the_users(view.way) and _may_go(look, view) else None
        if copy is not None:
            container = _container(look.watcher.shell.user_ns, view.way)
            groups.setdefault((container, *copy), []).append(view)
    found = [Views(container, what, how, views) for (container, what, how), views in groups.items()]
    found = _joined([it if len(it.ways) > 1 else replace(it, label=it.ways[0]) for it in found])
    found = [it for it in found if _behind(it) >= REPORTED_BYTES]
    found.sort(key=lambda it: -_behind(it))
    return found[:_MOST]


def _container(namespace: dict[str, Any], way: str) -> str:
    """Of what has the view, or has the row or the object with it; the view's own way where nothing has several."""
    at = way
    while parent := parent_of(at):
        value, outer = value_at(namespace, parent), parent_of(parent)
        is_row = _native.is_kind_of(value, tuple) or is_users_class(type(value))
        is_row |= type(value) is dict and type(value_at(namespace, outer)) is list
        if not is_row or not parent.endswith("]"):
            return parent if at.endswith("]") else way
        at = parent
    return way


def _may_go(look: Look, view: _native.PinnedView) -> bool:
    """Not where a tuple has it that a loop left under a name as well: another one in its place is no help."""
    tuples = tuples_to(look.watcher.shell.user_ns, view.way)
    return all(look.heap.holders_of(held) <= 1 for held in tuples)


def _joined(found: list[Views]) -> list[Views]:
    """Those of one kind that show parts of the same memory are one: copies in all places free it, in one do not."""
    joined: list[Views] = []
    for it in found:
        same = [other for other in joined if other.copying == it.copying and _share(other, it)]
        joined = [other for other in joined if other not in same]
        together = [*same, it]
        label = " and ".join(other.label for other in together)
        views = [view for other in together for view in other.views]
        joined.append(replace(it, label=label, views=views))
    return joined


def _share(one: Views, other: Views) -> bool:
    return not {it.memory for it in one.views}.isdisjoint(it.memory for it in other.views)


def _behind(it: Views) -> int:
    return sum({view.memory: view.behind for view in it.views}.values())


def _copy(look: Look, view: _native.PinnedView) -> tuple[tuple[str, str], str] | None:
    """What it keeps and how it is copied; None for what has no known copy."""
    value = value_at(look.watcher.shell.user_ns, view.way)
    if id(value) != view.object:
        return None
    if is_tensor(value):
        return _OF_TENSORS
    if type(value) is memoryview:
        return _OF_WINDOWS
    for module, name, what, copying in _COPIES:
        if is_instance(value, module, name):
            # An array's subclass has a copy() of its own.
            return (what, copying) if name != "ndarray" or _is_exact(value) else None
    return None


def _is_exact(value: object) -> bool:
    return type(value) is loaded_class("numpy", "ndarray")


def _wasted(look: Look, it: Views) -> int:
    """What copies in their places would give back."""
    memory = [view.memory for view in it.views]
    freed = look.heap.freed_behind([view.object for view in it.views], memory)
    return freed - it.shown if freed >= _FRACTION * it.shown else 0


def _release(namespace: dict[str, Any], it: Views) -> str | None:
    by_container: dict[str, list[str]] = {}
    for way in it.ways:
        by_container.setdefault(parent_of(way), []).append(way)
    loops, others = [], []
    for place, ways in by_container.items():
        loop = _copying_elements(namespace, place, ways, it.copy_of("v"))
        if loop:
            loops.append(loop)
        else:
            others += ways
    rest = replacing(namespace, others, it.copy_of)
    return None if rest is None else "; ".join([*loops, *([rest] if rest else [])])


def _copying_elements(
    namespace: dict[str, Any], container: str, ways: list[str], copied: str
) -> str:
    """A loop that puts copies in the places of elements; empty where their container has none."""
    value, place = value_at(namespace, container) if container else None, as_written(container)
    if type(value) is list and list.__len__(value) == len(ways):
        return f"{place}[:] = [{copied} for v in {place}]"
    if type(value) is dict and dict.__len__(value) == len(ways):
        return f"{place}.update({{k: {copied} for k, v in {place}.items()}})"
    if type(value) is deque and deque.__len__(value) == len(ways):
        return in_deque(place, copied)
    if type(value) is list and len(ways) > _FEW:
        # The last element of a loop often has a name too, and is no view of what nobody shows.
        at = ", ".join(map(str, sorted(int(way[len(container) + 1 : -1]) for way in ways)))
        return f"{place}[:] = [{copied} if n in {{{at}}} else v for n, v in enumerate({place})]"
    return ""
