"""What code does with a variable that it concatenates with itself: `track = cat([track, part])`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

# Who asks for no more needs no grown value.
_LOOKING = {"len", "print", "id", "type", "bool", "repr", "str", "display"}
SIZES = {"shape", "size", "numel", "dim", "ndim", "dtype", "device", "nbytes"}
_IS = (ast.Is, ast.IsNot)
_IS_OR_IN = (*_IS, ast.In, ast.NotIn)


def grown_by(node: ast.AST) -> Iterator[tuple[ast.expr, ast.Call]]:
    """(target, call) of those parts of an assignment that concatenate the target with more."""
    for target, value in _assigned(node):
        key = key_of(target)
        if isinstance(value, ast.Call) and key and key in map(key_of, _operands(value)):
            yield target, value


def _assigned(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return []
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=False))
    if isinstance(value, ast.IfExp) and is_first_time(value.test):
        return [(target, value.body), (target, value.orelse)]
    return [(target, value)]


def _operands(call: ast.Call) -> list[ast.expr]:
    given = [*call.args[:1], *(it.value for it in call.keywords if it.arg == "tensors")]
    return [it for part in given if isinstance(part, (ast.Tuple, ast.List)) for it in part.elts]


def key_of(node: ast.AST) -> str | None:
    """What two expressions of one variable have in common: attributes go by their own name."""
    if isinstance(node, ast.Attribute):
        return "." + node.attr
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Subscript)) else None


def is_needed(key: str, code: Iterable[ast.AST]) -> bool:
    """Whether each iteration reads the grown value, or makes it again."""
    return any(uses(it, key) or _rebinds(it, key) for it in code)


def uses(node: ast.AST, key: str) -> bool:
    """Whether code reads more than the size of a value, but to concatenate it with more."""
    if key_of(node) == key:
        return isinstance(getattr(node, "ctx", None), ast.Load)
    if isinstance(node, ast.JoinedStr):
        return False
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _LOOKING:
        return False
    if isinstance(node, ast.Attribute) and node.attr in SIZES and key_of(node.value) == key:
        return False
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], _IS):
        return False
    own = [call for target, call in grown_by(node) if key_of(target) == key]
    if own:
        values = [value for _, value in _assigned(node) if value not in own]
        return any(uses(it, key) for it in [*values, *_parts(own, key)])
    return any(uses(it, key) for it in ast.iter_child_nodes(node))


def _parts(calls: list[ast.Call], key: str) -> Iterator[ast.expr]:
    """What is concatenated with a variable."""
    for call in calls:
        yield from (it for it in _operands(call) if key_of(it) != key)


def _rebinds(node: ast.AST, key: str) -> bool:
    """Whether code gives a name another value than the grown one, but the first time."""
    if isinstance(node, ast.If) and is_first_time(node.test):
        return any(_rebinds(it, key) for it in [*node.body, *node.orelse] if not _starts(it, key))
    if any(key_of(target) == key for target, _ in grown_by(node)):
        return False
    if key_of(node) == key:
        return isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
    return any(_rebinds(it, key) for it in ast.iter_child_nodes(node))


def _starts(node: ast.stmt, key: str) -> bool:
    """Whether a statement sets a name to what is made without its value."""
    bound = node.targets if isinstance(node, ast.Assign) else []
    return key in map(key_of, bound) and not any(uses(it, key) for it in ast.iter_child_nodes(node))


def is_first_time(test: ast.expr) -> bool:
    """`x is None`, `i == 0`, `key in table`, `not x`; a length that decides is a bound."""
    nodes = list(ast.walk(test))
    compared = [it for it in nodes if isinstance(it, ast.Compare)]
    bounds = [it.comparators[0] for it in compared if not isinstance(it.ops[0], _IS_OR_IN)]
    starts = all(isinstance(it, ast.Constant) and it.value in (0, None) for it in bounds)
    return starts and not any(isinstance(it, ast.BinOp) for it in nodes)
