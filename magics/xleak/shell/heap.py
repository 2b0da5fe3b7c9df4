"""The heap of the session as a graph, its holders named as the user knows them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.originals import _current_frames, threading
from xleak.shell import gradient_table, torch_module
from xleak.shell.caches import LAST_RESULT
from xleak.shell.fields import class_fields, loaded_class
from xleak.shell.registries import THREADS, hooks, registries
from xleak.shell.tracebacks import LAST_TRACEBACK, error_entries
from xleak.shell.waiting import unread_variables
from xleak.shell.widgets import widget_slots

if TYPE_CHECKING:
    from xleak.shell.watcher import Watcher

FIGURES = "pyplot's open figures"
# Of what has no way to it but from where Python cannot look.
OUTSIDE = "native code or a running function"

# (dictionary, its own key, label): what the entry leads to is held by the label.
Slot = tuple[dict[Any, Any], object, str]


def take_snapshot(
    watcher: Watcher,
    deadline_ms: float | None = None,
    interrupted: Callable[[], bool] | None = None,
    graphs_ms: float = 1000.0,
) -> _native.HeapSnapshot | None:
    """Who holds what now; None where time ran out or interrupted() was true.

    graphs_ms: autograd graphs that take longer are read in part; with a deadline, not at all.
    """
    # What is named first is told first where two ways are equally short.
    slots = [*_names(watcher), *tool_slots(watcher)]
    slots += [*(slot for slot, _ in _cached(watcher)), *_errors(watcher)]
    slots += [(figures(), number, FIGURES) for number, _ in _native.items_of(figures())]
    slots += [*hooks(), *widget_slots(watcher.shell), *gradient_table.slots()]
    saved, complete = saved_memory(graphs_ms, interrupted)
    if not complete and (deadline_ms is not None or (interrupted and interrupted())):
        return None
    roots = [*_roots(), *registries(watcher.shell), *unread_variables(watcher.shell)]
    return _native.HeapSnapshot.take(slots, roots, saved, deadline_ms, interrupted)


# (id of a tensor, key of a storage that its graph saved, where its memory begins, bytes, device, ids of the tensors
# that show it).
Saved = tuple[int, int, int, int, str, list[int]]


def saved_memory(
    limit_ms: float, interrupted: Callable[[], bool] | None = None
) -> tuple[list[Saved], bool]:
    """What the autograd graphs of live tensors keep, and whether the time was enough for all of them.

    Nothing without xleak's module for torch.
    """
    if not torch_module.load():
        return [], True
    from xleak import _torch

    kept = _torch.kept_by_graphs(limit_ms, interrupted)
    if not kept.rows:
        return [], kept.complete
    shown_by = {row.storage.key: row.tensors for row in _torch.census()}
    rows = [(it.tensor, it.storage) for it in kept.rows]
    saved = [
        (tensor, it.key, it.address, it.bytes, it.device, shown_by.get(it.key, []))
        for tensor, it in rows
    ]
    return saved, kept.complete


def figures() -> dict[Any, Any]:
    """pyplot's registry of open figures, by number."""
    registry = loaded_class("matplotlib._pylab_helpers", "Gcf")
    figures = class_fields(registry).get("figs") if registry is not None else None
    return figures if _native.is_kind_of(figures, dict) else {}


def user_names(watcher: Watcher) -> list[str]:
    """The names that the user gave: not the shell's own, and not those of a tool."""
    tools = watcher.tool_names()
    return [name for name in watcher.caches.user_names() if name not in tools]


def user_values(watcher: Watcher) -> dict[str, Any]:
    """What these names stand for. Not to be kept while a snapshot is taken."""
    names = set(user_names(watcher))
    entries = _native.entries_of(watcher.shell.user_ns)
    return {name: value for name, value in entries.items() if name in names}


def _names(watcher: Watcher) -> Iterator[Slot]:
    user_ns = watcher.shell.user_ns
    for name in user_names(watcher):
        yield user_ns, name, name


def tool_slots(watcher: Watcher) -> Iterator[Slot]:
    """The names that a tool made."""
    user_ns = watcher.shell.user_ns
    for name in _own_keys(user_ns, watcher.tool_names()):
        yield user_ns, name, _label_of_tool(name)


def tool_values(watcher: Watcher) -> Iterator[tuple[str, Any]]:
    """(label, value) of them."""
    tools = watcher.tool_names()
    for name, value in _native.items_of(watcher.shell.user_ns) if tools else ():
        if type(name) is str and name in tools:
            yield _label_of_tool(name), value


def _label_of_tool(name: str) -> str:
    return f"{name} (made by a tool)"


def _cached(watcher: Watcher) -> Iterator[tuple[Slot, Any]]:
    """(slot, value) of the entries of the output caches but small text and numbers, under the label of the Out
    entry with the same value."""
    caches, last = watcher.caches, watcher.shell.last_execution_result
    for place, key, label, value in caches.labelled():
        yield (place, key, label), value
    result = vars(last) if last else {}
    for name in _own_keys(result, ("result",)):
        shown = result.get(name)
        yield (result, name, caches.label_of_recent(shown) or LAST_RESULT), shown


def shown_labels(watcher: Watcher) -> list[str]:
    """The labels of what the output caches have, small text and numbers left out."""
    return [label for _, _, label, _ in watcher.caches.labelled()]


def shown_values(watcher: Watcher) -> Iterator[tuple[str, Any]]:
    """(label, value) of what the output caches have, small text and numbers left out."""
    return ((slot[2], value) for slot, value in _cached(watcher))


def shell_labels(watcher: Watcher, ids: set[int]) -> list[str]:
    """The labels of what caches and tools have of these objects."""
    labels = [*tool_values(watcher), *shown_values(watcher)]
    return [label for label, value in labels if id(value) in ids]


def _errors(watcher: Watcher) -> Iterator[Slot]:
    for entries, names in error_entries(watcher.shell):
        for name in _own_keys(entries, names):
            yield entries, name, LAST_TRACEBACK


def running_labels() -> list[str]:
    """The labels of what the program's threads work with, and of what registries with a smell of their own have."""
    main = threading.main_thread().ident
    others = [_label_of_thread(ident) for ident in _current_frames() if ident != main]
    return [THREADS, "weakref's finalizers", "multiprocessing's children", *others]


def _label_of_thread(ident: int) -> str:
    return f"a running function of thread {ident}"


def _roots() -> Iterator[tuple[str, object]]:
    for ident, frame in _current_frames().items():
        # A frame that returns while the snapshot refers to it keeps the locals of its callers, the
        # snapshot among them. The outermost frame outlives the snapshot.
        while frame.f_back is not None:
            frame = frame.f_back
        yield _label_of_thread(ident), frame
    yield "sys.modules", sys.modules


def _own_keys(entries: dict[Any, Any], names: Iterable[str]) -> list[Any]:
    """The keys of a dictionary as the very objects that it has."""
    wanted = set(names)
    return [key for key in _native.names_in(entries) if key in wanted]


# --- by name ---------------------------------------------------------------------------------

# Less is not worth a line.
LEAST_BYTES = 64 << 10
# So many references are followed in some 50 ms. By number, so that a report is the same on any machine.
_MOST_REFERENCES = 2_000_000


@dataclass(frozen=True)
class NameFacts:
    """What one name of the user's, or one entry of the output cache, holds. Sizes in bytes."""

    label: str
    type_name: str
    own: int
    retained: int
    shared: int | None
    """What others reach too; None where it leads to more objects than are searched."""
    devices: dict[str, int]
    """Of the retained bytes those of tensors, by device."""


def name_facts(heap: _native.HeapSnapshot, label: str, value: Any) -> NameFacts:
    """The facts of a label of the snapshot and the value behind it."""
    reachable = heap.reachable_bytes(label, _MOST_REFERENCES)
    retained = heap.retained_bytes(label)
    return NameFacts(
        label,
        _native.type_name(value),
        heap.own_bytes(label),
        retained,
        None if reachable is None else max(0, reachable - retained),
        heap.retained_by_device(label),
    )


def values_by_label(watcher: Watcher) -> dict[str, Any]:
    """What the user's names and the output entries stand for; modules are left out, and small text and numbers
    among the entries."""
    caches, values = watcher.caches, user_values(watcher)
    cached = caches.cached()
    labels = caches.labels(cached)
    values |= {labels[id(value)]: value for value in caches.values(cached).values()}
    return {label: value for label, value in values.items() if type(value) is not ModuleType}


def largest_names(
    watcher: Watcher,
    heap: _native.HeapSnapshot,
    most: int,
    least_bytes: int = LEAST_BYTES,
    on_name: Callable[[float], object] = lambda share: None,
) -> list[NameFacts]:
    """The names and output entries that hold most, alone or together with others.

    on_name: gets the share of them that is done, before each.
    """
    values = values_by_label(watcher)
    sizes = {label: (heap.retained_bytes(label), heap.own_bytes(label)) for label in values}
    large = [label for label in values if max(sizes[label]) >= least_bytes]
    large.sort(key=lambda label: sizes[label], reverse=True)
    # What is shared takes a search for each name, so only for those that are shown.
    shown, facts = large[:most], []
    for done, label in enumerate(shown):
        on_name(done / len(shown))
        facts.append(name_facts(heap, label, values[label]))
    return facts


def label_of(watcher: Watcher, target: str) -> str:
    """The label of a snapshot for a name or an entry as the user types it. Raises ValueError."""
    caches = watcher.caches
    labels, names = caches.labels(), _native.entries_of(watcher.shell.user_ns)
    entries = {f"Out[{number}]": value for number, value in caches.entries().items()}
    if target in entries:
        return labels.get(id(entries[target]), target)
    if target not in names:
        raise ValueError(f"name {target!r} is not defined")
    if caches.is_cached_name(target):
        return labels.get(id(names[target]), target)
    return target
