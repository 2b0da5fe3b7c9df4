"""What each forward pass does without a condition, read from the classes in the cells."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xleak.shell.holders.functions import name_of
from xleak.shell.holders.sign_reader import FORWARD, MAKERS
from xleak.shell.source import parsed

_FILLING = {"append", "appendleft", "add", "insert", "extend", "update"}
# A method that is called so makes parts that are to stay.
_BUILDERS = ("build", "make", "reset", "init", "create", "setup")
# Cells are read again at each look.
_MOST = 256
_CONDITIONAL = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.Match, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True)
class _Method:
    """The attributes that a method fills and the methods that it calls, each time that it runs."""

    fills: frozenset[str]
    calls: frozenset[str]


_Methods = dict[str, _Method]


def attributes_filled(sources: Iterable[str], classes: list[str]) -> set[str]:
    """The attributes into which each forward pass of a class puts something, and nothing else does.

    classes: its name and those of its bases, as method resolution has them.
    """
    methods: _Methods = {}
    for name in reversed(classes):
        for source in sources:
            methods |= _classes_in(source).get(name, {})
    passing = _reached(methods, {it for it in methods if it in FORWARD})
    making = _reached(methods, {it for it in methods if it in MAKERS or _builds(it)})
    filled = {it for name in passing - making for it in methods[name].fills}
    return filled - {it for name in methods.keys() - passing for it in methods[name].fills}


def _builds(method: str) -> bool:
    return any(word in method for word in _BUILDERS)


def _reached(methods: _Methods, starts: set[str]) -> set[str]:
    pending = list(starts)
    for name in pending:
        pending += [it for it in methods[name].calls if it in methods and it not in pending]
    return set(pending)


@functools.lru_cache(_MOST)
def _classes_in(source: str) -> dict[str, _Methods]:
    """By the name of a class its methods."""
    if "class" not in source or (tree := parsed(source)) is None:
        return {}
    return {
        it.name: {f.name: _read(f) for f in it.body if isinstance(f, ast.FunctionDef)}
        for it in ast.walk(tree)
        if isinstance(it, ast.ClassDef)
    }


def _read(function: ast.FunctionDef) -> _Method:
    fills: set[str] = set()
    calls: set[str] = set()
    for node in _each_time(function.body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            calls.add(node.func.attr)
            fills |= _attribute(node.func.value) if node.func.attr in _FILLING else set()
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                fills |= _attribute(target) if isinstance(target, ast.Subscript) else set()
    return _Method(frozenset(fills), frozenset(calls))


def _each_time(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What stands under no condition and after no way out."""
    for statement in body:
        leaves = any(isinstance(it, ast.Return) for it in ast.walk(statement))
        if leaves and not isinstance(statement, ast.Return):
            return
        yield from _unconditional(statement)


def _unconditional(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (*_CONDITIONAL, *_SCOPES)):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _unconditional(child)


def _attribute(container: ast.expr) -> set[str]:
    """`gates` of self.gates and self.gates[key]."""
    base = container
    while isinstance(base, ast.Subscript):
        base = base.value
    name = name_of(base) if isinstance(base, ast.Attribute) else None
    return {name} if name else set()
