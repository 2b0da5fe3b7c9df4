"""Which cell made what stands in the registries of the process: numbers that are read in passing
after each cell, and where they changed the entries themselves."""

from __future__ import annotations

import atexit
import logging
import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from xleak import _native
from xleak.originals import threading
from xleak.shell.holders.reruns import code_of
from xleak.shell.own_ref import OwnRef

T = TypeVar("T")


class Counts:
    """Logging handlers, threads and child processes by the cell that made them.

    Holds weak references and process ids; of objects nothing but their identity is asked.
    """

    def __init__(self) -> None:
        self.repeats = False
        """Whether two runs of one cell each added something."""
        self.hooks_added = 0
        """How many callbacks at exit cells registered, less those that went."""
        self.hooks_by_cell: dict[int, int] = {}
        """How many a cell registered, of those that did."""
        self.recorded: list[int] = []
        """The cells in which autograd recorded something on this thread."""
        self._process = _native.ProcessState(_handler_list, _active_threads, _count_hooks)
        self._anomaly = anomaly_is_on()
        self._nodes = _count_nodes()
        self._born: dict[int, tuple[OwnRef[object], int]] = {}
        self._pids: dict[int, int] = {}
        self._added_by: set[str] = set()
        self._note(0)

    def after_cell(self, index: int, source: str) -> bool:
        """Notes what is new; whether it is a reason to search."""
        was_on = self._anomaly
        if "torch" in sys.modules:
            self._anomaly = anomaly_is_on()
            self._count_recorded(index)
        hooks, children = self._process.exit_hooks, self._process.children
        if not self._process.changed():
            return self._anomaly or was_on
        more_hooks = self._process.exit_hooks - hooks
        self.hooks_added += more_hooks
        if more_hooks > 0:
            self.hooks_by_cell[index] = more_hooks
        if self._note(index):
            self.repeats = self.repeats or code_of(source) in self._added_by
            self._added_by.add(code_of(source))
        other = self._process.children != children or more_hooks > 0
        return self.repeats or other or self._anomaly or was_on

    def _count_recorded(self, index: int) -> None:
        nodes, self._nodes = self._nodes, _count_nodes()
        if nodes != self._nodes:
            self.recorded.append(index)

    def cell_of(self, member: object) -> int:
        """The cell after which a handler or a thread was there first; 0: nobody knows."""
        born = self._born.get(id(member))
        return born[1] if born and born[0]() is member else 0

    def cell_of_process(self, pid: int) -> int:
        """The same for a child process."""
        return self._pids.get(pid, 0)

    def _note(self, cell: int) -> bool:
        """Remembers what is new, forgets what is gone. Whether anything is new."""
        alive = [*handlers(), *threads()]
        new = [it for it in alive if id(it) not in self._born or not self._knows(it)]
        born = {id(it): (OwnRef(it), cell) for it in new}
        self._born = {key: it for key, it in self._born.items() if it[0]() is not None} | born
        pids = [int(pid) for pid in self._process.children.split()]
        more = bool(new) or any(pid not in self._pids for pid in pids)
        self._pids = {pid: self._pids.get(pid, cell) for pid in pids}
        return more

    def _knows(self, member: object) -> bool:
        return self._born[id(member)][0]() is member


def handlers() -> list[object]:
    """All logging handlers that are alive."""
    known = _native.values_of(_handler_list)
    alive = [reference() for reference in known if type(reference) is weakref.ref]
    return [it for it in alive if it is not None]


def threads() -> list[threading.Thread]:
    """All threads that run and that Python knows."""
    return _native.values_of(_active_threads)


def anomaly_is_on() -> bool:
    """Whether torch searches for anomalies on this thread; False where it is not imported."""
    asked = _torch_function("torch", "is_anomaly_enabled")
    return asked is not None and bool(asked())


def _count_nodes() -> int:
    """How many nodes of graphs autograd recorded on this thread."""
    counted = _torch_function("torch.autograd", "_get_sequence_nr")
    return 0 if counted is None else int(counted())


def _torch_function(module: str, name: str) -> Any:
    """A function of torch's, None where it is not imported or has none."""
    return _native.fields_of_module(module).get(name)


_handler_list: list[Any] = logging.__dict__["_handlerList"]
_active_threads: dict[int, threading.Thread] = threading.__dict__["_active"]
_count_hooks = atexit.__dict__["_ncallbacks"]


@dataclass(frozen=True)
class Reruns(Generic[T]):
    """What several runs of one cell left, each at least one."""

    left: list[T]
    earlier: list[T]
    """Without those of the latest run, which the user's names lead to."""
    since_cell: int


def reruns(born: Iterable[tuple[T, int]], sources: Mapping[int, str]) -> Reruns[T] | None:
    """Of members and the cells that made them those of cells that ran more than once."""
    groups = list(_by_source(born, sources))
    if not groups:
        return None
    return Reruns(
        [it for group in groups for it, _ in group],
        [it for group in groups for it, cell in group if cell != max(c for _, c in group)],
        min(cell for group in groups for _, cell in group),
    )


def _by_source(
    born: Iterable[tuple[T, int]], sources: Mapping[int, str]
) -> Iterator[list[tuple[T, int]]]:
    groups: dict[str, list[tuple[T, int]]] = {}
    for member, cell in born:
        if cell in sources:
            groups.setdefault(code_of(sources[cell]), []).append((member, cell))
    for group in groups.values():
        if len({cell for _, cell in group}) > 1:
            yield group
