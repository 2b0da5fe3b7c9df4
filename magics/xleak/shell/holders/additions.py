"""What the code of the cells does with a container: who adds to it, who takes out, who reads its elements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from xleak.shell.holders.functions import Function as _Function
from xleak.shell.holders.functions import locals_of
from xleak.shell.source import lines_left_out, parsed

# Methods of the built-in containers that return nothing, by what they do.
_ADDING = {"append", "appendleft", "extend", "extendleft", "insert", "add", "update"}
_TAKING = {"clear", "remove", "discard", "pop", "popleft", "popitem"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.AsyncFor, ast.While, *_COMPREHENSIONS)
_LAMBDA = "<lambda>"
# Of all elements, those that a slice reads for the others to be unread.
_FEW = 0.5


class Doing(Enum):
    """What a place in the code does with a container."""

    ADDS = auto()
    TAKES = auto()
    READS = auto()


@dataclass(frozen=True)
class Place:
    """One place. `function`: name and first line of the code object that has it, None outside of functions. Where a
    method is handed on, `register_hook(grads.append)`, it is the function itself, without a line."""

    doing: Doing
    function: tuple[str, int | None] | None
    in_loop: bool
    """Whether a loop of the function's own, or of the cell's outside of functions, is around it."""
    of_self: bool
    """Whether it is an attribute of the first parameter of an `__init__`."""
    line: int
    """Of the cell, its magics counted."""


@dataclass(frozen=True)
class Named:
    """A container as code writes it: `taps` for `probe.taps['a']`, whichever object that belongs to."""

    name: str
    is_attribute: bool
    elements_at: int | None
    """How many subscripts lead to an element of a list; None of other containers."""
    count: int
    """Of its elements."""
    captured_by: str | None = None
    """The function that has it as a variable of the call that made it."""


def places_in(source: str, container: Named) -> Iterator[Place]:
    """Where a cell has a container."""
    tree = parsed(source) if container.name in source else None
    if tree is not None:
        yield from _Reader(container, lines_left_out(source)).places(tree)


class _Reader:
    def __init__(self, container: Named, lines_before: int) -> None:
        self._container = container
        self._lines_before = lines_before

    def places(self, tree: ast.Module) -> Iterator[Place]:
        """Those in a cell."""
        pending: list[tuple[list[ast.AST], ast.AST]] = [([], tree)]
        while pending:
            parents, node = pending.pop()
            if self._is_container(node):
                doing = self._doing(node, list(parents))
                if doing is not None:
                    yield self._place(doing, node, parents)
            elif self._is_local(node):
                continue
            pending += [([*parents, node], child) for child in ast.iter_child_nodes(node)]

    def _is_container(self, node: ast.AST) -> bool:
        name = self._container.name
        if isinstance(node, ast.Constant):
            return type(node.value) is str and node.value == name
        if self._container.is_attribute:
            return isinstance(node, ast.Attribute) and node.attr == name
        return isinstance(node, ast.Name) and node.id == name

    def _is_local(self, node: ast.AST) -> bool:
        """Whether the name is another one in a function."""
        if self._container.is_attribute or not isinstance(node, _FUNCTIONS):
            return False
        return self._container.name in locals_of(node) and not self._is_owner(node)

    def _is_owner(self, node: ast.AST) -> bool:
        """Whether it is the function whose calls make the container, for one within."""
        by = self._container.captured_by
        return by is not None and any(
            it is not node and isinstance(it, _FUNCTIONS) and getattr(it, "name", _LAMBDA) == by
            for it in ast.walk(node)
        )

    def _doing(self, node: ast.AST, parents: list[ast.AST]) -> Doing | None:
        """None for what neither changes the container nor reads its elements."""
        if isinstance(node, ast.Constant):
            return Doing.READS
        if isinstance(getattr(node, "ctx", None), ast.Store):
            return self._assigned(parents[-1], parents)
        if isinstance(getattr(node, "ctx", None), ast.Del):
            return Doing.TAKES
        at, subscripts, method = node, 0, ""
        while parents:
            above_it = parents.pop()
            if isinstance(above_it, ast.Subscript) and above_it.value is at:
                subscripts += not method
                if isinstance(above_it.ctx, ast.Store):
                    return Doing.ADDS
                if isinstance(above_it.ctx, ast.Del):
                    return Doing.TAKES
                if subscripts == self._container.elements_at and self._is_few(above_it.slice):
                    return None
            elif isinstance(above_it, ast.Attribute):
                method = above_it.attr
            elif not (isinstance(above_it, ast.Call) and above_it.func is at):
                return self._used(at, above_it, method, parents)
            at = above_it
        return None

    def _is_few(self, index: ast.expr) -> bool:
        """Whether it stands for one place, `[-1]`, or for some of many at one end, `[-2:]`, `[-window:]`."""
        if not isinstance(index, ast.Slice):
            return _number(index) is not None
        first, last = _number(index.lower), _number(index.upper)
        is_tail = isinstance(index.lower, ast.UnaryOp) and isinstance(index.lower.op, ast.USub)
        if is_tail and index.upper is None:
            # How many `[-window:]` reads no source says, but that it goes on reading the newest.
            return first is None or -first <= self._container.count * _FEW
        is_from_start = index.lower is None or (first is not None and first >= 0)
        return is_from_start and last is not None and 0 <= last <= self._container.count * _FEW

    def _assigned(self, statement: ast.AST, parents: list[ast.AST]) -> Doing | None:
        if isinstance(statement, ast.AugAssign):
            return Doing.ADDS
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Subscript) and self._is_container(value.value):
            return Doing.TAKES
        if value is not None and any(self._is_container(it) for it in ast.walk(value)):
            return Doing.ADDS
        in_function = any(isinstance(it, _FUNCTIONS) for it in parents)
        if self._container.captured_by and self._is_owner(_innermost(parents)):
            return None
        is_init = any(getattr(it, "name", "") == "__init__" for it in parents)
        return Doing.TAKES if in_function and not is_init else None

    def _used(self, at: ast.AST, by: ast.AST, method: str, parents: list[ast.AST]) -> Doing | None:
        is_dropped = isinstance(by, (ast.Expr, ast.Lambda)) and isinstance(at, ast.Call)
        if (is_dropped or isinstance(at, ast.Attribute)) and method in _ADDING:
            return Doing.ADDS
        if method in _TAKING:
            return Doing.TAKES
        if isinstance(by, ast.Expr) and any(isinstance(it, _FUNCTIONS) for it in parents):
            return None
        if isinstance(by, ast.Call) and isinstance(by.func, ast.Name) and by.func.id == "len":
            return None
        if isinstance(by, ast.Compare) and by.left is not at:
            return (
                None if all(isinstance(it, (ast.In, ast.NotIn)) for it in by.ops) else Doing.READS
            )
        if getattr(by, "test", None) is at or isinstance(by, ast.UnaryOp):
            return None
        if isinstance(by, (ast.Assign, ast.AugAssign)) and self._is_target(by):
            return None
        return Doing.READS

    def _is_target(self, statement: ast.Assign | ast.AugAssign) -> bool:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return any(self._is_container(target) for target in targets)

    def _place(self, doing: Doing, node: ast.AST, parents: list[ast.AST]) -> Place:
        method, by = parents[-1], parents[-2] if len(parents) > 1 else None
        is_called = isinstance(by, ast.Call) and by.func is method
        if doing is Doing.ADDS and isinstance(method, ast.Attribute) and not is_called:
            return Place(doing, (method.attr, None), False, False, method.lineno)
        inside = [number for number, it in enumerate(parents) if isinstance(it, _FUNCTIONS)]
        function = next((it for it in reversed(parents) if isinstance(it, _FUNCTIONS)), None)
        around = parents[inside[-1] :] if inside else parents
        name = getattr(function, "name", _LAMBDA)
        is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        return Place(
            doing,
            (name, self._first_line(function)) if function is not None else None,
            any(isinstance(it, _LOOPS) for it in around),
            name == "__init__" and is_own,
            getattr(node, "lineno", 1),
        )

    def _first_line(self, function: _Function) -> int:
        decorators = [] if isinstance(function, ast.Lambda) else function.decorator_list
        return min(it.lineno for it in (function, *decorators)) - self._lines_before


def _innermost(parents: list[ast.AST]) -> ast.AST:
    """The function around a place, or the cell."""
    return next((it for it in reversed(parents) if isinstance(it, _FUNCTIONS)), parents[0])


def _number(index: ast.expr | None) -> int | None:
    sign = 1
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        sign, index = -1, index.operand
    value = index.value if isinstance(index, ast.Constant) else None
    return sign * value if type(value) is int else None
