"""Operations that loops and runs of a cell add to TensorFlow's default graph."""

from __future__ import annotations

import ast
import linecache
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.holders.look import Look
from xleak.shell.holders.origin import is_in_library
from xleak.shell.holders.reruns import identity_of
from xleak.shell.own_ref import OwnRef
from xleak.shell.source import parsed

# So many iterations of a loop may be so many models.
_FEW_TURNS = 8
# An initializer or a summary for a run adds fewer.
_FEW_OPERATIONS = 8
_RUNS = 3
# Of the operations of one cell; the rest of a loop's are as these.
_SAMPLE = 3000
_METHODS = {"run", "eval"}
_STATEMENTS = (ast.For, ast.AsyncFor, ast.While)
_LOOPS = (*_STATEMENTS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

# (file, line) of the user's frames around an operation, outermost first.
_Frames = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class _Added:
    """What one cell added: the range of its operations."""

    first: int
    last: int


class DefaultGraph:
    """Told until the default graph is another one."""

    def __init__(self) -> None:
        self._graph: OwnRef[Any] | None = None
        self._operations = 0
        self._added: dict[int, _Added] = {}
        self._runs: dict[str, list[int]] = {}
        self._told: dict[str, _native.Holder] = {}

    def after_cell(self, cell: int, source: str) -> bool:
        """Whether the cell made the graph much larger, or has begun another one."""
        graph = _default_graph()
        if graph is None and self._graph is None:
            return False
        gone = False
        if self._graph is None or self._graph() is not graph:
            gone = bool(self._told)
            self._graph = OwnRef(graph) if graph is not None else None
            self._operations = 0
            self._added, self._runs, self._told = {}, {}, {}
        before, self._operations = self._operations, graph.version if graph is not None else 0
        if self._operations - before <= _FEW_OPERATIONS:
            return gone
        self._added[cell] = _Added(before, self._operations)
        self._runs.setdefault(identity_of(cell, source), []).append(cell)
        return True

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each cell with such a loop, or that was run three times."""
        graph = self._graph() if self._graph is not None else None
        if graph is not None and self._added:
            operations = graph.get_operations()
            for cell, added in self._added.items():
                self._read(cell, operations[added.first : added.last])
            self._added.clear()
            for runs in self._runs.values():
                if len(runs) >= _RUNS:
                    self._tell("graph of runs", runs[0], len(runs))
        yield from self._told.values()

    def _tell(self, kind: str, cell: int, count: int) -> None:
        label = f"the default graph, from {name_of_run(cell)} on"
        total = str(self._operations)
        if label not in self._told or self._told[label].kind == kind:
            self._told[label] = _native.Holder(kind, label, 0, cell, total, count, "")

    def _read(self, cell: int, operations: list[Any]) -> None:
        made = Counter((_users_frames(it), it.type) for it in operations[:_SAMPLE])
        iterations = [
            count
            for (frames, _), count in made.items()
            if count > _FEW_TURNS and _runs_in_loop(frames)
        ]
        if iterations:
            self._tell("graph of iterations", cell, min(iterations))


def _default_graph() -> Any:
    """The graph of this process that operations go to, where there is one and no block has set
    another."""
    module = _native.fields_of_module("tensorflow.python.framework.ops")
    # TensorFlow's stack is a threading.local: what a thread sees of it stands in no dictionary of its own.
    return getattr(module.get("_default_graph_stack"), "_global_default_graph", None)


def _users_frames(operation: Any) -> _Frames:
    frames = [(it.filename, it.lineno) for it in operation.traceback]
    return tuple(it for it in frames if not is_in_library(it[0]))


def _runs_in_loop(frames: _Frames) -> bool:
    """Whether a loop around the operation also runs a session, itself or in what it calls."""
    for at, (file, line) in enumerate(frames):
        tree = _tree_of(file)
        for loop in _around(tree, line, _LOOPS) if tree else ():
            called = [_function_at(*frame) for frame in frames[at + 1 :]]
            if any(_runs(it) for it in [loop, *called] if it is not None):
                return True
    return False


def _around(tree: ast.AST, line: int, kinds: tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
    for it in ast.walk(tree):
        if isinstance(it, kinds) and it.lineno <= line <= (it.end_lineno or 0):  # type: ignore[attr-defined]
            yield it


def _function_at(file: str, line: int) -> ast.AST | None:
    """The innermost function around a line."""
    tree = _tree_of(file)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    found = list(_around(tree, line, kinds)) if tree else []
    return found[-1] if found else None


def _runs(code: ast.AST) -> bool:
    return any(
        isinstance(it, ast.Call) and isinstance(it.func, ast.Attribute) and it.func.attr in _METHODS
        for it in ast.walk(code)
    )


def _tree_of(file: str) -> ast.Module | None:
    """The code of a cell, as Python keeps it for tracebacks."""
    entry = linecache.cache.get(file)
    return parsed("".join(entry[2])) if entry is not None and len(entry) > 2 else None
