"""Statements that bind a name or an attribute to its old value and more, and what else code does with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from xleak.shell.holders.call_sites import LOOPS
from xleak.shell.holders.functions import locals_of, name_of
from xleak.shell.holders.self_cats import SIZES, is_first_time
from xleak.shell.source import lines_left_out, parsed

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_COUNTING = {"len", "type", "id", "isinstance", "bool"}
_LAMBDA = "<lambda>"


class Growth(Enum):
    """How a value comes to have the old one in it."""

    ADDED = auto()
    """`log += line`: the type decides whether that joins them."""
    JOINED = auto()
    """`concatenate([seen, x])`"""
    GIVEN = auto()
    """`append(seen, x)`, `frame.vstack(x)`: may return as much as it was given."""


class Doing(Enum):
    """What else a place does with it."""

    STARTS = auto()
    REBINDS = auto()
    READS = auto()


@dataclass(frozen=True)
class Key:
    """What the places of one value have in common: attributes go by their own name."""

    name: str
    is_attribute: bool


@dataclass(frozen=True)
class Place:
    """One place. `function`: name and first line of the code object that has it, None outside of functions."""

    key: Key
    does: Growth | Doing
    function: tuple[str, int] | None
    in_loop: bool
    lines: range
    """Of the statement, in the cell."""
    target: ast.expr
    value: ast.expr | None
    """What it is bound to."""


def growing_in(source: str) -> Iterator[Place]:
    """The statements of a cell that bind something to its old value and more."""
    for node, parents in _nodes_in(source):
        target = _target(node)
        if isinstance(node, _ASSIGNMENTS) and isinstance(target, (ast.Name, ast.Attribute)):
            how = _growth(node, target)
            key = _key_of(target)
            if how is not None and not _is_local(key, parents):
                yield _place(source, key, how, target, [*parents, node])


def places_of(source: str, key: Key) -> Iterator[Place]:
    """What a cell does with the values of a key."""
    for node, parents in _nodes_in(source) if key.name in source else ():
        if isinstance(node, ast.Constant) and node.value == key.name and _names(parents[-1]):
            yield _place(source, key, Doing.READS, node, parents)
        elif isinstance(node, (ast.Name, ast.Attribute)) and _key_of(node) == key:
            does = None if _is_local(key, parents) else _does(node, parents)
            if does is not None:
                yield _place(source, key, does, node, parents)


def _names(by: ast.AST) -> bool:
    """Whether a text there may stand for a name: `getattr(it, "rows")`; not what is shown or explains."""
    is_shown = isinstance(by, ast.Call) and name_of(by.func) == "print"
    return not is_shown and not isinstance(by, (ast.JoinedStr, ast.Expr))


def takers_of(place: Place) -> Iterator[str]:
    """The last names of the functions that a growing statement hands the old value to."""
    for it in ast.walk(place.value) if place.value is not None else ():
        if isinstance(it, ast.Call):
            given = [*it.args, *(part.value for part in it.keywords)]
            if any(_is_same(part, place.target) or _lists(part, place.target) for part in given):
                yield name_of(it.func) or ""


def is_empty(value: ast.expr | None) -> bool:
    """Whether an expression shows that it makes something without elements: `""`, `np.empty((0, 3))`, `DataFrame()`."""
    if isinstance(value, ast.Constant):
        return value.value in ("", b"")
    if isinstance(value, (ast.List, ast.Tuple)):
        return not value.elts
    if not isinstance(value, ast.Call):
        return False
    if value.args:
        return any(_is_zero(it) or (isinstance(it, ast.List) and not it.elts) for it in value.args)
    numbers = (it for part in value.keywords for it in ast.walk(part.value))
    return not any(isinstance(it, ast.Constant) and type(it.value) is int for it in numbers)


def _is_zero(size: ast.expr) -> bool:
    if isinstance(size, (ast.Tuple, ast.List)):
        return any(_is_zero(it) for it in size.elts)
    return isinstance(size, ast.Constant) and type(size.value) is int and size.value == 0


def _nodes_in(source: str) -> Iterator[tuple[ast.AST, list[ast.AST]]]:
    """(node, parents, nearest last) of a cell."""
    tree = parsed(source)
    pending: list[tuple[ast.AST, list[ast.AST]]] = [(tree, [])] if tree else []
    while pending:
        node, parents = pending.pop()
        yield node, parents
        pending += [(child, [*parents, node]) for child in ast.iter_child_nodes(node)]


def _key_of(node: ast.Name | ast.Attribute) -> Key:
    return Key(node.attr, True) if isinstance(node, ast.Attribute) else Key(node.id, False)


def _is_local(key: Key, parents: list[ast.AST]) -> bool:
    functions = [it for it in parents if isinstance(it, _FUNCTIONS)]
    return not key.is_attribute and any(key.name in locals_of(it) for it in functions)


def _target(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Assign):
        return node.targets[0] if len(node.targets) == 1 else None
    return node.target if isinstance(node, (ast.AnnAssign, ast.AugAssign)) else None


def _growth(
    statement: ast.Assign | ast.AnnAssign | ast.AugAssign, target: ast.Name | ast.Attribute
) -> Growth | None:
    if isinstance(statement, ast.AugAssign):
        is_sum = isinstance(statement.op, ast.Add)
        return Growth.ADDED if is_sum and not _has(statement.value, target) else None
    value = statement.value
    if isinstance(value, ast.IfExp) and _is_first_time(value.test, _key_of(target)):
        value = value.body if _has(value.body, target) else value.orelse
    found = _joined(value, target) if value is not None else None
    # What is made of its elements besides has read them.
    is_once = (
        found is not None and sum(_is_same(it, target) for it in ast.walk(value or target)) == 1
    )
    return found if is_once else None


def _joined(value: ast.expr, target: ast.expr) -> Growth | None:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        sides = (value.left, value.right)
        is_in = any(_is_same(it, target) or _joined(it, target) is Growth.ADDED for it in sides)
        return Growth.ADDED if is_in else None
    if isinstance(value, ast.JoinedStr):
        parts = [it.value for it in value.values if isinstance(it, ast.FormattedValue)]
        return Growth.ADDED if any(_is_same(it, target) for it in parts) else None
    if _unpacks(value, target):
        return Growth.ADDED
    if not isinstance(value, ast.Call):
        return None
    given = [*value.args, *(it.value for it in value.keywords)]
    if any(_lists(it, target) for it in given):
        return Growth.JOINED
    owner = value.func.value if isinstance(value.func, ast.Attribute) else None
    if owner is not None and not value.args and _are_switches(value.keywords):
        # `concat([frame, row]).reset_index(drop=True)`
        return _joined(owner, target) if isinstance(owner, ast.Call) else None
    others = given if owner is None else [owner, *given]
    return Growth.GIVEN if given and any(_is_same(it, target) for it in others) else None


def _unpacks(value: ast.expr, target: ast.expr) -> bool:
    """`(*pieces, x)`"""
    parts = value.elts if isinstance(value, (ast.List, ast.Tuple)) else []
    return len(parts) > 1 and any(
        isinstance(it, ast.Starred) and _is_same(it.value, target) for it in parts
    )


def _lists(value: ast.expr, target: ast.expr) -> bool:
    parts = value.elts if isinstance(value, (ast.List, ast.Tuple)) else []
    return len(parts) > 1 and any(_is_same(it, target) for it in parts)


def _are_switches(given: list[ast.keyword]) -> bool:
    return all(isinstance(it.value, ast.Constant) and type(it.value.value) is bool for it in given)


def _is_same(node: ast.AST, target: ast.expr) -> bool:
    return (
        isinstance(node, type(target))
        and isinstance(getattr(node, "ctx", None), ast.Load)
        and ast.unparse(node) == ast.unparse(target)
    )


def _has(node: ast.expr | None, target: ast.expr) -> bool:
    return node is not None and any(_is_same(it, target) for it in ast.walk(node))


def _does(node: ast.Name | ast.Attribute, parents: list[ast.AST]) -> Growth | Doing | None:
    """None for what asks for no elements."""
    statement = next((it for it in reversed(parents) if isinstance(it, ast.stmt)), None)
    is_bound = not isinstance(node.ctx, ast.Load)
    target = _target(statement) if statement is not None else None
    if isinstance(statement, _ASSIGNMENTS) and target is not None:
        how = None
        if isinstance(target, (ast.Name, ast.Attribute)) and _key_of(target) == _key_of(node):
            how = _growth(statement, target)
        if how is not None:
            in_test = any(isinstance(it, (ast.Compare, ast.UnaryOp)) for it in parents)
            return how if is_bound else None if in_test or _is_same(node, target) else Doing.READS
        if is_bound and node is target and not isinstance(statement, ast.AugAssign):
            tests = [it.test for it in parents if isinstance(it, ast.If)]
            is_first = any(_is_first_time(it, _key_of(node)) for it in tests)
            return None if is_first else Doing.STARTS
    if is_bound:
        return Doing.REBINDS
    return Doing.READS if _reads(node, parents[-1]) else None


def _reads(node: ast.expr, by: ast.AST) -> bool:
    if isinstance(by, ast.Attribute):
        return by.attr not in SIZES
    if isinstance(by, ast.Call) and isinstance(by.func, ast.Name):
        return by.func.id not in _COUNTING
    if isinstance(by, ast.Compare):
        return not all(isinstance(it, (ast.Is, ast.IsNot)) for it in by.ops)
    is_test = getattr(by, "test", None) is node or isinstance(getattr(by, "op", None), ast.Not)
    return not is_test


def _is_first_time(test: ast.expr, key: Key) -> bool:
    """`self.seen is None`; a counter of a loop is none of it."""
    nodes = (it for it in ast.walk(test) if isinstance(it, (ast.Name, ast.Attribute)))
    return is_first_time(test) and any(_key_of(it) == key for it in nodes)


def _place(
    source: str, key: Key, does: Growth | Doing, target: ast.expr, parents: list[ast.AST]
) -> Place:
    inside = [number for number, it in enumerate(parents) if isinstance(it, _FUNCTIONS)]
    around = parents[inside[-1] :] if inside else parents
    statement = next((it for it in reversed(parents) if isinstance(it, ast.stmt)), target)
    function = parents[inside[-1]] if inside else None
    decorated = getattr(function, "decorator_list", [])
    first = min((getattr(it, "lineno", 1) for it in (function, *decorated)), default=1)
    return Place(
        key,
        does,
        (getattr(function, "name", _LAMBDA), first - lines_left_out(source)) if inside else None,
        any(isinstance(it, LOOPS) for it in around),
        range(statement.lineno, (statement.end_lineno or statement.lineno) + 1),
        target,
        getattr(statement, "value", None),
    )
