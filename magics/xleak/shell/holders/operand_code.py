"""What forward passes compute with, read from the classes in the cells."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from typing import TypeGuard

from xleak.shell.holders.sign_reader import FORWARD, MAKERS
from xleak.shell.source import parsed

# Who asks for one of these looks after where the tensor is.
_MOVES = {"to", "cuda", "cpu", "xpu", "type_as", "device", "get_device", "is_cuda"}
# Methods that move a module in their own way.
_OWN_MOVES = {"to", "cuda", "_apply"}
# Cells are read again at each look.
_MOST = 256

_Methods = dict[str, ast.FunctionDef]


def operands_of_passes(
    sources: Iterable[str], classes: Iterable[str], libraries: Iterable[str]
) -> set[str]:
    """The attributes that forward passes of a class compute with as they are.

    Those that some method moves, or sets after the object was made, are left out.
    classes: its name and those of its bases; libraries: the names of torch and its modules.
    """
    names, torch = tuple(classes), frozenset(libraries)
    found = [_read(source, names, torch) for source in sources]
    operands = {name for used, _ in found for name in used}
    return operands - {name for _, cared in found for name in cared}


@functools.lru_cache(_MOST)
def _read(
    source: str, classes: tuple[str, ...], libraries: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """(operands, attributes that are looked after) in the classes of one cell."""
    operands: set[str] = set()
    cared: set[str] = set()
    tree = parsed(source) if "class" in source else None
    for it in ast.walk(tree) if tree else ():
        if isinstance(it, ast.ClassDef) and it.name in classes:
            methods = {f.name: f for f in it.body if isinstance(f, ast.FunctionDef)}
            for name in _passing(methods):
                operands |= _operands(methods[name], libraries)
            for name, method in methods.items():
                cared |= _looked_after(method, name in MAKERS)
                cared |= _attributes(it) if name in _OWN_MOVES else set()
    return frozenset(operands), frozenset(cared)


def _passing(methods: _Methods) -> list[str]:
    """The names of forward passes and of what they call."""
    pending = [name for name in methods if name in FORWARD]
    for name in pending:
        called = _attributes(methods[name])
        pending += [it for it in methods if it in called and it not in pending]
    return pending


def _operands(method: ast.FunctionDef, libraries: frozenset[str]) -> set[str]:
    found: list[ast.expr] = []
    for node in ast.walk(method):
        if isinstance(node, ast.BinOp):
            found += [node.left, node.right]
        elif isinstance(node, ast.Call) and _root(node.func) in libraries:
            found += node.args
    return {it.attr for it in found if _is_attribute(it)}


def _looked_after(method: ast.FunctionDef, makes: bool) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(method):
        if isinstance(node, ast.Attribute):
            inner = node.value
            if node.attr in _MOVES and _is_attribute(inner):
                found.add(inner.attr)
            elif not makes and not isinstance(node.ctx, ast.Load):
                found.add(node.attr)
    return found


def _attributes(node: ast.AST) -> set[str]:
    return {it.attr for it in ast.walk(node) if isinstance(it, ast.Attribute)}


def _is_attribute(node: ast.expr) -> TypeGuard[ast.Attribute]:
    """`self.grid`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
