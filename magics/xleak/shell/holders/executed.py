"""What the source of executed cells says of names."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator

from xleak.shell.source import parsed

# Cells are read again at each look.
_MOST = 256
_WORD = "retain_graph"
_MORE = " and others"


def statements(sources: Iterable[str]) -> Iterator[ast.AST]:
    """All nodes of all cells that are Python."""
    for source in sources:
        if tree := parsed(source):
            yield from ast.walk(tree)


def led_on(sources: Iterable[str]) -> set[str]:
    """Names that are assigned what was made of them: `state` in `y, state = net(x, state)`."""
    return set().union(*map(_led_on_in, sources))


@functools.lru_cache(_MOST)
def _led_on_in(source: str) -> frozenset[str]:
    found: set[str] = set()
    for node in statements([source]):
        if isinstance(node, ast.AugAssign):
            found |= names_in(node.target)
        elif isinstance(node, ast.Assign):
            targets = set().union(*(names_in(target) for target in node.targets))
            found |= targets & names_in(node.value)
    return frozenset(found)


def names_let_go(source: str) -> set[str]:
    """Names that the cell itself deletes or sets to None, not its functions."""
    found: set[str] = set()
    for node in _own_nodes(source):
        targets = node.targets if isinstance(node, ast.Delete) else []
        if isinstance(node, ast.Assign) and _is_constant(node.value, None):
            targets = node.targets
        found |= {it.id for it in targets if isinstance(it, ast.Name)}
    return found


def parts_replaced(source: str) -> dict[str, str]:
    """Attributes and elements that the cell itself puts something else in the place of, or deletes, by the name that
    they start at: `net.head` by `net`, the first and that there are others. Not those that its functions do."""
    found: dict[str, str] = {}
    for node in _own_nodes(source):
        if not isinstance(node, (ast.Assign, ast.Delete)):
            continue
        for target in node.targets:
            start: ast.expr = target
            while isinstance(start, (ast.Attribute, ast.Subscript)):
                start = start.value
            if start is not target and isinstance(start, ast.Name):
                part = ast.unparse(target)
                before = found.setdefault(start.id, part)
                if before != part:
                    found[start.id] = f"{before.removesuffix(_MORE)}{_MORE}"
    return found


def _own_nodes(source: str) -> Iterator[ast.AST]:
    """The nodes of a cell that are outside of functions and classes."""
    tree = parsed(source)
    pending: list[ast.AST] = [tree] if tree else []
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        yield node
        pending += ast.iter_child_nodes(node)


def names_in(node: ast.AST) -> set[str]:
    """The bare names of an expression."""
    return {it.id for it in ast.walk(node) if isinstance(it, ast.Name)}


def led_back_with_retain_graph(own: Iterable[str], sources: Iterable[str]) -> set[str]:
    """Names that `backward(retain_graph=True)` or `autograd.grad(…, retain_graph=True)` went through
    in the cells `own`, and those that got there what a function of any cell led back so."""
    cells = list(own)
    retaining = [source for source in cells if _WORD in source]
    found = set().union(*(_led_back(node) for node in statements(retaining)))
    functions = set(_returning(source for source in sources if _WORD in source))
    for node in statements(cells if functions else []):
        if isinstance(node, ast.Assign) and _called(node.value) in functions:
            found |= set().union(*(names_in(target) for target in node.targets))
    return found


def _returning(sources: Iterable[str]) -> Iterator[str]:
    """Functions that return what they led back."""
    for node in statements(sources):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = list(ast.walk(node))
            returned = [it.value for it in inside if isinstance(it, ast.Return) and it.value]
            names = set().union(*(names_in(value) for value in returned))
            if names & set().union(*(_led_back(it) for it in inside)):
                yield node.name


def _called(node: ast.expr) -> str | None:
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def _led_back(node: ast.AST) -> set[str]:
    """The names of what a call leads back and retains. Rows of a Jacobian, `y[i].backward(…)`,
    need it."""
    start = _start_of(node) if isinstance(node, ast.Call) and _retains(node) else None
    if start is None or any(isinstance(it, ast.Subscript) for it in ast.walk(start)):
        return set()
    return names_in(start)


def _retains(call: ast.Call) -> bool:
    words = call.keywords
    return any(it.arg == _WORD and _is_constant(it.value, True) for it in words)


def _is_constant(node: ast.expr, value: bool | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _start_of(call: ast.Call) -> ast.expr | None:
    function = call.func
    method = isinstance(function, ast.Attribute) and function.attr == "backward"
    if isinstance(function, ast.Attribute) and method and not _is_autograd(function.value):
        return function.value
    return call.args[0] if call.args else None


def _is_autograd(node: ast.expr) -> bool:
    return ast.unparse(node).rpartition(".")[2] == "autograd"
