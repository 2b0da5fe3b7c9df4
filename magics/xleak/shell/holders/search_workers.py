"""Worker processes of joblib that a search on all cores left waiting."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.originals import os
from xleak.shell.descendants import proportional_bytes
from xleak.shell.fields import fields_of
from xleak.shell.holders import children
from xleak.shell.holders.look import Look
from xleak.shell.source import parsed

# After so many cells without a task a search has ended, and no further one follows it at once.
_IDLE_CELLS = 2
_POOLS = ("joblib.externals.loky.reusable_executor", "loky.reusable_executor")
# What takes -1 for one process on each core; estimators take it for threads.
_SEARCH = re.compile(
    r"\w*SearchCV|cross_val\w*|(?:learning|validation)_curve|Parallel|parallel_(?:backend|config)"
)

# (how many tasks it was ever given, how many workers it has)
_State = tuple[int, int]


class SearchWorkers:
    """Told until they are shut down, or given something to do."""

    def __init__(self) -> None:
        self._states: dict[str, _State] = {}
        self._used: dict[str, int] = {}
        """By module of the pool the cell that gave it a task last."""

    def after_cell(self, cell: int) -> bool:
        """Whether workers came, went, or have waited long enough."""
        states = {it: state for it in _POOLS if (state := _state_of(it))}
        if not states and not self._states:
            return False
        before, self._states = self._states, states
        for name, (tasks, _) in states.items():
            if tasks != before.get(name, (0, 0))[0]:
                self._used[name] = cell
        rested = any(cell - self._used.get(it, cell) == _IDLE_CELLS for it in states)
        return states != before or rested

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each pool."""
        for name, used in self._used.items():
            if look.cell - used < _IDLE_CELLS or not _state_of(name):
                continue
            fields = _fields_of(name)
            pids = _pids(fields)
            if not pids or _native.items_of(fields.get("_pending_work_items"), 0, 1):
                continue
            if not (_is_one_for_each_core(fields) and _takes_all_cores(look)):
                continue
            size = sum(proportional_bytes(pid) for pid in pids)
            label = f"the workers of joblib, from {name_of_run(used)} on"
            release = f'__import__("sys").modules["{name}"]._executor.shutdown(wait=True);'
            yield _native.Holder(
                "search workers", label, size, used, "worker process", len(pids), release
            )


def _fields_of(pool: str) -> dict[Any, Any]:
    """The attributes of the executor that all searches share."""
    return fields_of(_native.fields_of_module(pool).get("_executor"))


def _state_of(pool: str) -> _State | None:
    if pool not in sys.modules:
        return None
    fields = _fields_of(pool)
    tasks, workers = fields.get("_queue_count"), fields.get("_processes")
    count = len(_native.items_of(workers))
    return (tasks, count) if type(tasks) is int and type(workers) is dict else None


def _pids(fields: dict[Any, Any]) -> list[int]:
    pids = (pid for pid, _ in _native.items_of(fields.get("_processes")))
    return [pid for pid in pids if type(pid) is int and children.is_alive(pid)]


def _is_one_for_each_core(fields: dict[Any, Any]) -> bool:
    """Or for all but one, as -2 has it."""
    limit = fields.get("_max_workers")
    return type(limit) is int and limit >= len(os.sched_getaffinity(0)) - 1


def _takes_all_cores(look: Look) -> bool:
    """Whether a cell asks for as many as there are: a number of its own is a bound."""
    return any("jobs" in source and _has_search(source) for source in look.sources.values())


def _has_search(source: str) -> bool:
    tree = parsed(source)
    calls = [it for it in ast.walk(tree) if isinstance(it, ast.Call)] if tree else []
    searches = [it for it in calls if _SEARCH.fullmatch(_name_of(it.func))]
    given = [{keyword.arg: keyword.value for keyword in it.keywords} for it in searches]
    return any(_is_negative(it.get("n_jobs")) and "pre_dispatch" not in it for it in given)


def _is_negative(value: ast.expr | None) -> bool:
    return isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub)


def _name_of(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
