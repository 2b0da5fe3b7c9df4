"""What the code of the cells does with an object of a library: commands it, or reads what it has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from xleak.shell.source import parsed

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Mention:
    """A place where a name stands that leads to the object."""

    name: str
    lines: range
    """Of its statement."""
    reads: bool
    """Whether something is made of it: not by a call whose result is dropped, `log.addHandler(mem)`, nor where an
    attribute of it is set."""
    function: str | None
    """The innermost that has it, None where the cell itself does."""
    to: str | None
    """The function to which it is handed by its name alone, `show(ax, heat)`."""


def mentions(source: str, names: set[str]) -> Iterator[Mention]:
    """Those in a cell, but where the name is bound or deleted."""
    tree = parsed(source) if any(name in source for name in names) else None
    pending: list[tuple[list[ast.AST], ast.AST]] = [([], tree)] if tree else []
    while pending:
        parents, node = pending.pop()
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
            yield _mention(node, parents, names)
        pending += [([*parents, node], child) for child in ast.iter_child_nodes(node)]


def binds(source: str, name: str) -> bool:
    """Whether a cell itself binds a name."""
    tree = parsed(source) if name in source else None
    pending: list[ast.AST] = [tree] if tree else []
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return True
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            pending += ast.iter_child_nodes(node)
    return False


def hands_over(source: str, line: int) -> bool:
    """Whether the statement in a line makes a value that the code has in hand: not `optimizer.step()`, whose memory
    is the library's own."""
    found: ast.stmt | None = None
    for node in ast.walk(parsed(source) or ast.Module([], [])):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            found = node
    if not isinstance(found, ast.Expr) or not isinstance(found.value, ast.Call):
        return found is not None
    given = [*found.value.args, *(it.value for it in found.value.keywords)]
    return any(isinstance(it, ast.Call) for value in given for it in ast.walk(value))


def _mention(node: ast.Name, parents: list[ast.AST], names: set[str]) -> Mention:
    statement = next(it for it in reversed(parents) if isinstance(it, ast.stmt))
    function = next((it for it in reversed(parents) if isinstance(it, _FUNCTIONS)), None)
    at, above = _whole(node, parents)
    call = above[-2] if isinstance(above[-1], ast.keyword) else above[-1]
    is_given = isinstance(call, ast.Call) and at is node
    is_set = isinstance(at, ast.Attribute) and isinstance(at.ctx, ast.Store)
    is_dropped = is_set or (isinstance(above[-1], ast.Expr) and isinstance(at, ast.Call))
    to = None
    if is_given and isinstance(call, ast.Call):
        to = call.func.id if isinstance(call.func, ast.Name) else None
        in_call = above[above.index(call) - 1]
        by_its_own = isinstance(call.func, ast.Attribute) and _first(call.func) in names
        is_dropped = by_its_own and isinstance(in_call, ast.Expr)
    name = None if function is None else getattr(function, "name", "<lambda>")
    lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    return Mention(node.id, lines, not is_dropped, name, to)


def _whole(node: ast.expr, parents: list[ast.AST]) -> tuple[ast.expr, list[ast.AST]]:
    """The expression that starts at a name, `fig.canvas.draw()`, and what is around it."""
    at, above = node, list(parents)
    while True:
        outer = above[-1]
        is_next = isinstance(outer, (ast.Attribute, ast.Subscript)) and outer.value is at
        if not is_next and not (isinstance(outer, ast.Call) and outer.func is at):
            return at, above
        assert isinstance(outer, ast.expr)
        at = outer
        above.pop()


def _first(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
