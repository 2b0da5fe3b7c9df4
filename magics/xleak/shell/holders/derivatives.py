"""Which names hold derivatives of derivatives, as the source of executed cells has it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from xleak import _native
from xleak.shell.holders.calls import dotted, is_torchs, methods_called
from xleak.shell.source import parsed

_GRAD = "torch.autograd.grad"
# Of torch.autograd.grad(outputs, inputs, grad_outputs, retain_graph, create_graph).
_CREATE_GRAPH = 4
_SECOND = 2
# What comes of them has no graph.
_FREE = {"item", "detach", "tolist", "numpy", "float", "int", "argmax", "argmin", "print"}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def names_of_last_derivatives(sources: Iterable[str], namespace: dict[str, Any]) -> set[str]:
    """Names of derivatives with a graph whose argument was a derivative already, and which nothing
    differentiates or leads back in its iteration."""
    cells = list(sources)
    if "create_graph" not in "".join(cells) or "backward" in methods_called(cells):
        return set()
    reader = _Reader(_native.entries_of(namespace))
    for source in cells:
        if tree := parsed(source):
            reader.read(tree.body)
    last = {name for name, level in reader.levels.items() if level >= _SECOND}
    return last - reader.differentiated


class _Reader:
    """Follows names from statement to statement: how often was each differentiated, with a graph?"""

    def __init__(self, entries: dict[str, Any]) -> None:
        self.levels: dict[str, int] = {}
        self.differentiated: set[str] = set()
        self._functions: dict[str, int] = {}
        self._entries = entries

    def read(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._functions[statement.name] = self._returned(statement)
            elif not isinstance(statement, ast.ClassDef):
                self._read_one(statement)

    def _read_one(self, statement: ast.stmt) -> None:
        self.differentiated |= _names(self._differentiated_in(statement))
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                self._bind(target, self._level(statement.value))
        elif isinstance(statement, ast.AnnAssign) and statement.value:
            self._bind(statement.target, self._level(statement.value))
        elif isinstance(statement, ast.AugAssign):
            level = max(self._level(statement.target), self._level(statement.value))
            self._bind(statement.target, level)
        elif isinstance(statement, (ast.For, ast.AsyncFor)):
            self._bind(statement.target, self._level(statement.iter))
        for name in ("body", "orelse", "finalbody"):
            self.read(getattr(statement, name, ()))
        for handler in getattr(statement, "handlers", ()):
            self.read(handler.body)

    def _bind(self, target: ast.expr, level: int) -> None:
        # An element or an attribute is no name.
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._bind(element, level)
        elif isinstance(target, ast.Name):
            self.levels[target.id] = level

    def _returned(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
        inside = _Reader(self._entries)
        inside._functions = dict(self._functions)
        inside.read(function.body)
        values = [it.value for it in _own(function) if isinstance(it, ast.Return) and it.value]
        return max((inside._level(it) for it in values), default=0)

    def _level(self, node: ast.AST) -> int:
        if isinstance(node, ast.Name):
            return self.levels.get(node.id, 0)
        if isinstance(node, ast.Call):
            return self._level_of_call(node)
        return max((self._level(it) for it in ast.iter_child_nodes(node)), default=0)

    def _level_of_call(self, call: ast.Call) -> int:
        name = dotted(call.func)
        if is_torchs(name, _GRAD, self._entries):
            outputs = _outputs(call)
            return 1 + self._level(outputs) if outputs and _creates_graph(call) else 0
        if name.rpartition(".")[2] in _FREE:
            return 0
        inner = max((self._level(it) for it in ast.iter_child_nodes(call)), default=0)
        return max(self._functions.get(name, 0), inner)

    def _differentiated_in(self, statement: ast.stmt) -> Iterator[ast.expr]:
        calls = (it for it in _own(statement) if isinstance(it, ast.Call))
        grads = (it for it in calls if is_torchs(dotted(it.func), _GRAD, self._entries))
        yield from filter(None, map(_outputs, grads))


def _outputs(call: ast.Call) -> ast.expr | None:
    words = {it.arg: it.value for it in call.keywords}
    return call.args[0] if call.args else words.get("outputs")


def _creates_graph(call: ast.Call) -> bool:
    words: Mapping[str | None, ast.expr] = {it.arg: it.value for it in call.keywords}
    flag = words.get("create_graph")
    if flag is None and len(call.args) > _CREATE_GRAPH:
        flag = call.args[_CREATE_GRAPH]
    return isinstance(flag, ast.Constant) and flag.value is True


def _names(expressions: Iterable[ast.expr]) -> set[str]:
    return {it.id for node in expressions for it in ast.walk(node) if isinstance(it, ast.Name)}


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What is in a node, but not in the functions within it."""
    pending = [node]
    for it in pending:
        yield it
        pending += [at for at in ast.iter_child_nodes(it) if not isinstance(at, _SCOPES)]
