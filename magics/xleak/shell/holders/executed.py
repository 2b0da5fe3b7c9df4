"""What the source of executed cells says of names."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xleak.shell.source import parsed

# Cells are read again at each look.
_MOST = 256
_WORD = "retain_graph"
_MORE = " and others"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


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
        found |= {it.id for it in _let_go(node) if isinstance(it, ast.Name)}
    return found


def names_bound(source: str) -> set[str]:
    """Names that the cell itself assigns, in loops too; not those that a loop runs through."""
    found: set[str] = set()
    for node in _own_nodes(source):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            targets = [node.target]
        found |= set().union(*(_bound_by(target) for target in targets))
    return found


def _bound_by(target: ast.expr) -> set[str]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return set().union(*map(_bound_by, target.elts))
    if isinstance(target, ast.Starred):
        return _bound_by(target.value)
    return {target.id} if isinstance(target, ast.Name) else set()


def parts_replaced(source: str) -> dict[str, str]:
    """Attributes and elements that the cell itself puts something else in the place of, or deletes, by the name that
    they start at: `net.head` by `net`, the first and that there are others. Not those that its functions do."""
    found: dict[str, str] = {}
    for node in _own_nodes(source):
        if not isinstance(node, (ast.Assign, ast.Delete)):
            continue
        for target in node.targets:
            start = _start(target)
            if start is not target and isinstance(start, ast.Name):
                part = ast.unparse(target)
                before = found.setdefault(start.id, part)
                if before != part:
                    found[start.id] = f"{before.removesuffix(_MORE)}{_MORE}"
    return found


def parts_let_go(source: str) -> dict[str, list[str]]:
    """Those that the cell itself deletes or sets to None, by the name that they start at."""
    found: dict[str, list[str]] = {}
    for node in _own_nodes(source):
        for target in _let_go(node):
            start = _start(target)
            if start is not target and isinstance(start, ast.Name):
                found.setdefault(start.id, []).append(ast.unparse(target))
    return found


@dataclass(frozen=True)
class MadeFor:
    """A statement that assigns to a name: its lines, and the source of what it assigns."""

    name: str
    lines: range
    value: str


def made_for_names_let_go(source: str) -> list[MadeFor]:
    """The statements of a cell, and of its functions, whose names the same code deletes or sets to None later."""
    tree = parsed(source)
    bodies: list[ast.AST] = [tree] if tree else []
    bodies += [it for it in (ast.walk(tree) if tree else ()) if isinstance(it, _FUNCTIONS)]
    found = []
    for body in bodies:
        nodes = list(_nodes_of(body))
        let_go = {it.id for node in nodes for it in _let_go(node) if isinstance(it, ast.Name)}
        for node in nodes:
            names = (
                set().union(*map(_bound_by, node.targets))
                if isinstance(node, ast.Assign)
                else set()
            )
            if (
                isinstance(node, ast.Assign)
                and names & let_go
                and not _is_constant(node.value, None)
            ):
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                name = min(names & let_go)
                found.append(MadeFor(name, lines, ast.unparse(node.value)))
    return found


def definitions_around(source: str, line: int) -> set[str]:
    """The names of the functions and classes of a cell that have a line."""
    return {
        it.name
        for it in statements([source])
        if isinstance(it, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and it.lineno <= line <= (it.end_lineno or it.lineno)
    }


def _let_go(node: ast.AST) -> list[ast.expr]:
    """What a statement deletes or sets to None."""
    if isinstance(node, ast.Delete):
        return node.targets
    return node.targets if isinstance(node, ast.Assign) and _is_constant(node.value, None) else []


def _start(target: ast.expr) -> ast.expr:
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
    return target


def _own_nodes(source: str) -> Iterator[ast.AST]:
    """The nodes of a cell that are outside of functions and classes."""
    tree = parsed(source)
    return _nodes_of(tree) if tree else iter(())


def _nodes_of(body: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a cell or a function that are outside of the functions and classes in it."""
    pending: list[ast.AST] = [body]
    while pending:
        node = pending.pop()
        if node is not body and isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
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
