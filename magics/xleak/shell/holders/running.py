"""Threads and processes of which each run of a cell leaves one more running."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.originals import os, threading
from xleak.shell.fields import fields_of
from xleak.shell.holders import children
from xleak.shell.holders.counts import Counts, reruns, threads
from xleak.shell.holders.look import Look
from xleak.shell.holders.origin import is_of_the_user, module_of, name_and_module

# Their functions are what users hand to a thread; no library runs a pool of them.
_USERS_TARGETS = {"threading", "time", "socketserver"}

# Code that stops just those with these numbers, where they are still there.
_STOPS = {
    "timer": (
        '[(it.cancel(), it.join()) for it in __import__("threading").enumerate() '
        "if it.ident in {%s}];"
    ),
    "process": (
        '[(it.terminate(), it.join(5)) for it in __import__("multiprocessing").active_children() '
        "if it.pid in {%s}];"
    ),
    "subprocess": (
        '[(it.terminate(), it.wait(5)) for it in __import__("gc").get_objects() '
        'if type(it) is __import__("subprocess").Popen and it.pid in {%s}];'
    ),
}


@dataclass(frozen=True)
class _Running:
    kind: str
    """ "thread", or a key of _STOPS."""
    name: str
    number: int
    cell: int


class LeftRunning:
    """What several runs of one cell started, one more each time, and what still runs."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """By what they run."""
        if not self._counts.repeats:
            return
        groups: dict[tuple[str, str], list[_Running]] = {}
        for it in [*self._threads(), *self._processes(look.live)]:
            groups.setdefault((it.kind, it.name), []).append(it)
        for (kind, name), members in groups.items():
            again = reruns([(it, it.cell) for it in members], look.sources)
            if again:
                label = f"{kind} {name}"
                holder_kind = "threads" if kind in ("thread", "timer") else "processes"
                chosen = ", ".join(str(it.number) for it in again.earlier)
                release = _STOPS[kind] % chosen if kind in _STOPS else ""
                count = len(again.left)
                yield _native.Holder(holder_kind, label, 0, again.since_cell, kind, count, release)

    def _threads(self) -> Iterator[_Running]:
        for thread in threads():
            cell = self._counts.cell_of(thread)
            fields = fields_of(thread)
            name = _users_name(thread, fields)
            if cell and name:
                kind = "timer" if type(thread) is threading.Timer else "thread"
                yield _Running(kind, name, fields.get("_ident") or 0, cell)

    def _processes(self, live: _native.LiveObjects) -> Iterator[_Running]:
        for pid, fields in children.popens(live):
            cell = self._counts.cell_of_process(pid)
            yield _Running("subprocess", _program(fields.get("args")), pid, cell)
        libraries = children.of_libraries(live)
        for pid, process, _ in children.processes():
            if id(process) not in libraries:
                name, cell = _native.type_name(process), self._counts.cell_of_process(pid)
                yield _Running("process", name, pid, cell)


def _users_name(thread: threading.Thread, fields: dict[str, Any]) -> str:
    """What a thread runs, by the name of the function or of the user's class; empty for the
    threads of libraries."""
    kind = type(thread)
    if kind not in (threading.Thread, threading.Timer):
        return _native.type_name(thread) if is_of_the_user(module_of(kind)) else ""
    target = fields.get("function") if kind is threading.Timer else fields.get("_target")
    name, module = name_and_module(target)
    return name if is_of_the_user(module) or module in _USERS_TARGETS else ""


def _program(arguments: object) -> str:
    """The program of a command, without its folder."""
    if _native.is_exactly(arguments, (list, tuple)):
        arguments = next(iter(_native.values_of(arguments)), "")
    words = arguments.split() if type(arguments) is str else []
    return os.path.basename(words[0]) if words else "process"
