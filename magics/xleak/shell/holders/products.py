"""Products of matrices that a cell computes on a device in one piece."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.fields import class_fields, loaded_class
from xleak.shell.holders.look import Look
from xleak.shell.own_ref import OwnRef
from xleak.shell.source import parsed
from xleak.shell.tensor_fields import tensor_class

# Less is no matter on any device, and most cells have nothing larger.
_LARGE_BYTES = 16 << 20
_PRODUCTS = {"matmul", "mm", "cdist"}
_TRANSPOSED = {"T", "mT", "t"}
# Their code runs elsewhere, or with other names.
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# A name takes part of it where most comes back with it.
_MOST = 0.95


@dataclass(frozen=True)
class _Product:
    """One product, as measured."""

    text: str
    cell: int
    device: str
    bytes: int
    target: str
    """The name of the user's that has the result, empty where none does."""
    result: OwnRef[Any] | None

    def is_alive(self, later: list[_Product]) -> bool:
        """Whether its result is; without one, whether no later cell had a product."""
        return not later if self.result is None else self.result() is not None


class MatrixProducts:
    """Of the last cell that had one; its result for as long as it lives."""

    def __init__(self) -> None:
        self._products: list[_Product] = []

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each."""
        if "torch.cuda" not in sys.modules:
            return
        found = list(_products(look))
        known = {it.text for it in found}
        before = [it for it in self._products if it.text not in known and it.is_alive(found)]
        self._products = before + found
        for it in self._products:
            release = _release(it, look)
            count = int(bool(release))
            yield _native.Holder(
                "matrix product", it.text, it.bytes, it.cell, it.device, count, release
            )


def _release(it: _Product, look: Look) -> str:
    """Deletes the name, where nothing else has the result."""
    result = it.result() if it.result is not None else None
    names = look.watcher.shell.user_ns
    if result is None or _native.value_at(names, it.target) is not result:
        return ""
    if look.heap.retained_by_device(it.target).get(it.device, 0) < _MOST * it.bytes:
        return ""
    return f'del {it.target}; __import__("torch").cuda.empty_cache();'


def _products(look: Look) -> Iterator[_Product]:
    rises = _rises(look.cell)
    source = look.sources.get(look.cell, "")
    tree = parsed(source) if any(it >= _LARGE_BYTES for it in rises.values()) else None
    if tree is None:
        return
    names = look.watcher.shell.user_ns
    targets = {id(value): name for name, value in _assigned(tree)}
    for node in _outer_nodes(tree):
        factors = _factors(node)
        if factors is None:
            continue
        target = targets.get(id(node), "")
        result = _on_device(_native.value_at(names, target))
        sizes = result or _multiplied(_sizes(factors[0], names), _sizes(factors[1], names), node)
        if sizes is None:
            continue
        shape, item, device = sizes
        size = math.prod(shape) * item
        # It was there in this cell, by the counters.
        if len(shape) == 2 and _LARGE_BYTES <= size <= rises.get(device, 0):
            reference = OwnRef(names[target]) if result else None
            name = target if result else ""
            yield _Product(ast.unparse(node), look.cell, device, size, name, reference)


def _rises(cell: int) -> dict[str, int]:
    """By device by how much the peak of a cell stood above its beginning, where that is known."""
    record = _native.record(cell)
    rises: dict[str, int] = {}
    for it in record.devices if record is not None else []:
        peak, after, kept = it.allocated_peak_bytes, it.allocated_bytes, it.allocated_kept_bytes
        if peak is not None and after is not None and kept is not None:
            rises[it.device] = peak - (after - kept)
    return rises


def _outer_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Those that run once the cell does, with the names of the top level."""
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, (*_INNER, *_COMPREHENSIONS)):
            yield child
            yield from _outer_nodes(child)


def _assigned(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for node in _outer_nodes(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                yield target.id, node.value


def _factors(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The two factors of a product of matrices."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return node.left, node.right
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _PRODUCTS and len(node.args) == 2:
            return node.args[0], node.args[1]
        if node.func.attr in _PRODUCTS and len(node.args) == 1:
            return node.func.value, node.args[0]
    return None


# (sizes, bytes of one number, device)
_Sizes = tuple[tuple[int, ...], int, str]


def _sizes(factor: ast.expr, names: dict[str, Any]) -> _Sizes | None:
    """Of a name of a tensor on a device, or of its transpose."""
    if isinstance(factor, ast.Name):
        return _on_device(names.get(factor.id))
    at = factor.func if isinstance(factor, ast.Call) and not factor.args else factor
    if not isinstance(at, ast.Attribute) or at.attr not in _TRANSPOSED:
        return None
    inner = _sizes(at.value, names)
    return inner and (inner[0][::-1], *inner[1:])


def _multiplied(left: _Sizes | None, right: _Sizes | None, node: ast.AST) -> _Sizes | None:
    if left is None or right is None or left[2] != right[2]:
        return None
    (rows, width), other = left[0], right[0]
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "cdist":
        other = other[::-1]
    return ((rows, other[1]), left[1], left[2]) if width == other[0] else None


def _on_device(value: object) -> _Sizes | None:
    """Of a matrix that is not on the host; by exact type, since a class of the user's may answer."""
    tensor = loaded_class("torch", "Tensor")
    parameter = loaded_class("torch.nn.parameter", "Parameter")
    if tensor is None or not _native.is_exactly(value, (tensor, parameter)):
        return None
    base = class_fields(tensor_class())
    strided = _native.fields_of_module("torch").get("strided")
    if base["is_cpu"].__get__(value) or base["layout"].__get__(value) is not strided:
        return None
    shape = tuple(int(size) for size in base["shape"].__get__(value))
    item = int(base["dtype"].__get__(value).itemsize)
    return (shape, item, str(base["device"].__get__(value))) if len(shape) == 2 else None
