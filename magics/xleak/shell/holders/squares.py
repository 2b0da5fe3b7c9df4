"""Squares that a column and a vector broadcast to, only to be reduced to one number."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from xleak import _native
from xleak.shell.fields import loaded_class
from xleak.shell.holders.calls import dotted
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.places import value_at
from xleak.shell.source import parsed

# Cells are read again at each look.
_MOST = 256
# So many times the larger operand is no scale for each row.
_BLOWUP = 8
# Until then a square that nothing has used yet may be used as one.
_PATIENCE = 3
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_NONE = (ast.Constant(None), ast.Constant(None))
_FUNCTIONS = {"subtract", "multiply", "squared_difference"}
_REDUCTIONS = {"mean", "sum", "reduce_mean", "reduce_sum"}
_ELEMENTWISE = {"abs", "pow", "square", "sqrt", "exp", "log", "detach", "float", "double"}
_FACTS = {"shape", "dtype", "ndim", "device", "size", "dim", "nbytes", "numel"}
# A column that was made by hand is meant.
_MADE = {"unsqueeze", "reshape", "view", "expand_dims", "T", "mT", "transpose", "permute", "None"}


@dataclass(frozen=True)
class _Square:
    """A name bound to an operation of two others, as one cell has it."""

    name: str
    operands: tuple[str, str]
    code: str


@dataclass(frozen=True)
class _Array:
    """A tensor or an array, for the time of a look."""

    shape: tuple[int, ...]
    address: int
    bytes: int
    tensorflow: bool = False


class Squares:
    """Told while the name has it and nothing uses it as a matrix."""

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each square."""
        if "torch" not in sys.modules and "numpy" not in sys.modules:
            return
        for cell, square in _bound(look.sources).values():
            there = _standing(square, look.watcher.shell.user_ns)
            if there is None or there.bytes < REPORTED_BYTES or _is_meant(square, look.sources):
                continue
            uses = _uses(square.name, look.sources, set())
            if uses == {"reduced"}:
                kind = "tensorflow square" if there.tensorflow else "square"
                if _keeps_axis(square, look.sources):
                    kind = "kept axis"
                shapes = _native.human(there.bytes)
                yield _native.Holder(kind, f"`{square.code}`", there.bytes, cell, shapes, 1, "")
            elif not uses and look.cell - cell < _PATIENCE:
                look.search_again()


def _bound(sources: Mapping[int, str]) -> dict[str, tuple[int, _Square]]:
    """By name what it was bound to last, with the cell, where that is such an operation."""
    found: dict[str, tuple[int, _Square]] = {}
    for cell, source in sources.items():
        for name, square in _bindings_in(source):
            found.pop(name, None)
            if square:
                found[name] = cell, square
    return found


@functools.lru_cache(_MOST)
def _bindings_in(source: str) -> tuple[tuple[str, _Square | None], ...]:
    """What the cell itself binds, in order."""
    tree = parsed(source)
    found: list[tuple[str, _Square | None]] = []
    for statement in _own(tree) if tree else ():
        if isinstance(statement, ast.Assign):
            names = [it for target in statement.targets for it in _names_in(target)]
            square = _square_of(names[0], statement) if len(names) == 1 else None
            found += [(name, square) for name in names]
        elif isinstance(statement, (ast.For, ast.AugAssign, ast.AnnAssign)):
            found += [(name, None) for name in _names_in(statement.target)]
    return tuple(found)


def _square_of(name: str, statement: ast.Assign) -> _Square | None:
    for node in ast.walk(statement.value):
        left, right = (dotted(it) for it in _operands(node))
        both = not left.startswith(".") and not right.startswith(".")
        if left and right and both:
            return _Square(name, (left, right), ast.unparse(statement))
    return None


def _operands(node: ast.AST) -> tuple[ast.expr, ast.expr]:
    """Those that are broadcast together."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATORS):
        return node.left, node.right
    if isinstance(node, ast.Call) and len(node.args) == 2:
        method = dotted(node.func).rpartition(".")[2]
        return (node.args[0], node.args[1]) if method in _FUNCTIONS else _NONE
    return _NONE


def _standing(square: _Square, names: dict[str, Any]) -> _Array | None:
    """The (N, N) made of (N, 1) and (N,); None where that is not what stands there."""
    whole = _array(_native.value_at(names, square.name))
    parts = [_array(value_at(names, operand)) for operand in square.operands]
    one, other = parts
    if whole is None or one is None or other is None or len(whole.shape) != 2:
        return None
    count = whole.shape[0]
    fits = whole.shape == (count, count) and {one.shape, other.shape} == {(count, 1), (count,)}
    # The pairs of one vector with itself.
    same = one.address == other.address
    return whole if fits and not same and count >= _BLOWUP else None


def _array(it: object) -> _Array | None:
    parameter = loaded_class("torch.nn.parameter", "Parameter")
    if _native.is_exactly(it, (loaded_class("torch", "Tensor"), parameter)):
        tensor: Any = it
        if tensor.layout is not _native.fields_of_module("torch").get("strided"):
            return None
        shape = tuple(int(size) for size in tensor.shape)
        return _Array(shape, tensor.data_ptr(), prod(shape) * tensor.element_size())
    if _native.is_exactly(it, loaded_class("numpy", "ndarray")):
        array: Any = it
        return _Array(array.shape, array.__array_interface__["data"][0], array.nbytes)
    eager = loaded_class("tensorflow.python.framework.ops", "EagerTensor")
    if eager is not None and type(it) is eager:
        known: Any = it
        shape = tuple(known.shape.as_list())
        return _Array(shape, id(it), prod(shape) * known.dtype.size, tensorflow=True)
    return None


def _is_meant(square: _Square, sources: Mapping[int, str]) -> bool:
    """Whether an operand was given its axis by hand."""
    values = [it for source in sources.values() for it in _values_in(source)]
    return any(name in square.operands and made & _MADE for name, made, _ in values)


def _keeps_axis(square: _Square, sources: Mapping[int, str]) -> bool:
    """Whether an operand is what a reduction left with its axis."""
    values = [it for source in sources.values() for it in _values_in(source)]
    return any(name in square.operands and keeps for name, _, keeps in values)


@functools.lru_cache(_MOST)
def _values_in(source: str) -> tuple[tuple[str, frozenset[str], bool], ...]:
    """(name, methods and attributes in its value, whether keepdim=True is in it) of assignments."""
    tree = parsed(source)
    found = []
    for it in ast.walk(tree) if tree else ():
        for target, value in _pairs(it) if isinstance(it, ast.Assign) else ():
            inside = list(ast.walk(value))
            made = {node.attr for node in inside if isinstance(node, ast.Attribute)}
            made |= {"None" for node in inside if isinstance(node, ast.Subscript) and _adds(node)}
            found.append((dotted(target), frozenset(made), any(map(_is_keepdim, inside))))
    return tuple(found)


def _pairs(statement: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """(target, value), also of `a, b = x, y`."""
    value = statement.value
    for target in statement.targets:
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        values = value.elts if isinstance(value, ast.Tuple) else [value] * len(parts)
        yield from zip(parts, values, strict=False)


def _adds(subscript: ast.Subscript) -> bool:
    """`x[:, None]`, `x[:, np.newaxis]`."""
    parts = ast.walk(subscript.slice)
    return any(
        (isinstance(it, ast.Constant) and it.value is None)
        or (isinstance(it, (ast.Name, ast.Attribute)) and dotted(it).endswith("newaxis"))
        for it in parts
    )


def _is_keepdim(node: ast.AST) -> bool:
    words = node.keywords if isinstance(node, ast.Call) else []
    return any(
        word.arg in ("keepdim", "keepdims")
        and isinstance(word.value, ast.Constant)
        and word.value.value is True
        for word in words
    )


def _uses(name: str, sources: Mapping[int, str], known: set[str]) -> set[str]:
    """How the cells use a name and what was made of it: "reduced" to one number, or "kept"."""
    known.add(name)
    found = {use for source in sources.values() for use in _uses_in(source, name)}
    others = {use for use in found if use not in ("reduced", "kept")}
    further = (_uses(other, sources, known) for other in sorted(others - known))
    return set().union(found - others, *further)


@functools.lru_cache(_MOST)
def _uses_in(source: str, name: str) -> frozenset[str]:
    """The same for one cell, and the names that it gives to what it makes of it."""
    tree = parsed(source) if name in source else None
    if tree is None:
        return frozenset()
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    uses: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            uses.add(_use(node, above))
    return frozenset(uses - {""})


def _use(node: ast.AST, above: Mapping[ast.AST, ast.AST]) -> str:
    """Up from a name: through what keeps its shape, to what becomes of it."""
    while (parent := above.get(node)) is not None:
        if isinstance(parent, ast.Attribute):
            if parent.attr in _FACTS:
                return ""
            call = above.get(parent)
            called = isinstance(call, ast.Call) and call.func is parent
            if parent.attr in _REDUCTIONS and called and isinstance(call, ast.Call):
                return "kept" if call.args or call.keywords else "reduced"
            if parent.attr not in _ELEMENTWISE or not called or call is None:
                return "kept"
            node = call
        elif isinstance(parent, ast.Call) and node in parent.args:
            method = dotted(parent.func).rpartition(".")[2]
            if method in _REDUCTIONS and len(parent.args) == 1 and not parent.keywords:
                return "reduced"
            if method not in _ELEMENTWISE:
                return "kept"
            node = parent
        elif isinstance(parent, (ast.BinOp, ast.UnaryOp)):
            if isinstance(getattr(parent, "op", None), ast.MatMult):
                return "kept"
            node = parent
        elif isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
            return target.id if isinstance(target, ast.Name) else "kept"
        else:
            return "kept"
    return "kept"


def _names_in(target: ast.expr) -> list[str]:
    return [it.id for it in ast.walk(target) if isinstance(it, ast.Name)]


def _own(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of a cell in order, those of its functions aside."""
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        statement = pending.pop(0)
        yield statement
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner: list[ast.stmt] = [
                *getattr(statement, "body", []),
                *getattr(statement, "orelse", []),
            ]
            pending = inner + pending
