"""Parts of functions as their source has them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_CONTAINERS = {"list", "dict", "set", "deque", "defaultdict", "OrderedDict"}
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def name_of(node: ast.AST) -> str | None:
    """The last name of an expression, subscripts aside."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def is_empty_container(node: ast.AST | None) -> bool:
    """Whether an expression makes an empty container."""
    if isinstance(node, ast.Call) and name_of(node.func) in _CONTAINERS:
        factory = name_of(node.func) == "defaultdict"
        return factory or not (node.args or node.keywords)
    return (isinstance(node, ast.List) and not node.elts) or (
        isinstance(node, ast.Dict) and not node.keys
    )


def parameters_of(function: Function) -> set[str]:
    """The names of a function's parameters."""
    return {it.arg for it in ast.walk(function.args) if isinstance(it, ast.arg)}


def defaults_of(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr | None]]:
    """(parameter, default) of those that have one."""
    positional = [*arguments.posonlyargs, *arguments.args]
    named = positional[len(positional) - len(arguments.defaults) :]
    for argument, default in zip(named, arguments.defaults, strict=True):
        yield argument.arg, default
    for argument, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield argument.arg, keyword_default


def locals_of(function: Function) -> set[str]:
    """The names of a function's own, and of the functions in it."""
    own: set[str] = set()
    shared: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.Name) and stores(node):
            own.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            shared |= set(node.names)
    return own - shared


def stores(name: ast.Name) -> bool:
    """Whether a name is given a value."""
    return isinstance(name.ctx, ast.Store)
