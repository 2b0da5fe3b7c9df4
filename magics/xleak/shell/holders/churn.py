"""Large tensors that a cell makes again and again, by the blocks that torch's allocator saw come
and go."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.fields import loaded_class
from xleak.shell.holders.calls import dotted, meant_by
from xleak.shell.holders.containers import has_graph
from xleak.shell.holders.look import Look
from xleak.shell.holders.reruns import identity_of
from xleak.shell.source import parsed

# Fewer cost less than a reader's time.
_PAIRS = 100
# Shorter chains are read at a glance; smaller tensors are not worth it.
_CHAIN = 3
_LARGE_BYTES = 64 << 20
# Blocks are rounded up.
_WHOLE = 0.95

_FACTORIES = {"zeros", "ones", "empty", "full", "eye", "arange"}
_IN_PLACE = {
    "clamp",
    "clip",
    "abs",
    "exp",
    "log",
    "sqrt",
    "square",
    "pow",
    "add",
    "sub",
    "mul",
    "div",
}
_IN_PLACE |= {"relu", "sigmoid", "tanh", "neg", "floor", "round", "ceil", "log1p", "masked_fill"}
_LOOPS = (ast.For, ast.AsyncFor, ast.While)

# Blocks that the cell made and freed again, by the bytes of one.
_Blocks = Mapping[int, int]


class Churn:
    """Told until the cell runs again without it."""

    def __init__(self) -> None:
        self._told: list[_native.Holder] = []

    def after_cell(self, index: int, sources: Mapping[int, str], names: dict[str, Any]) -> bool:
        """Whether the cell made something again and again, or is one that did, run again."""
        module = sys.modules.get("xleak._torch")
        blocks: _Blocks = dict(module.churned()) if module is not None else {}
        new = []
        if any(count >= _PAIRS or size >= _LARGE_BYTES for size, count in blocks.items()):
            entries = _native.entries_of(names)
            new = [
                *_scratch(index, sources, entries, blocks),
                *_chains(index, sources, entries, blocks),
            ]
        others = [it for it in self._told if not _is_rerun(index, it.since_cell or 0, sources)]
        changed = bool(new) or len(others) < len(self._told)
        self._told = [*new, *others]
        return changed

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each factory and each chain."""
        yield from self._told


def _is_rerun(cell: int, before: int, sources: Mapping[int, str]) -> bool:
    return identity_of(cell, sources.get(cell, "")) == identity_of(before, sources.get(before, ""))


def _scratch(
    cell: int, sources: Mapping[int, str], names: dict[str, Any], blocks: _Blocks
) -> Iterator[_native.Holder]:
    """Factories in a loop of the cell whose blocks, by their size, came and went."""
    told: set[str] = set()
    for call in _calls_in_loops(cell, sources):
        size = _bytes_of(call, names)
        count = blocks.get(size, 0) if size else 0
        code = ast.unparse(call)
        if count >= _PAIRS and code not in told:
            told.add(code)
            one = _native.human(size)
            yield _native.Holder("scratch", f"`{code}`", size * count, cell, one, count, "")


def _calls_in_loops(cell: int, sources: Mapping[int, str]) -> Iterator[ast.Call]:
    """What the loops of a cell call, and the functions of the user's that they call."""
    tree = parsed(sources.get(cell, ""))
    called: set[str] = set()
    for loop in ast.walk(tree) if tree else ():
        for it in _turned(loop):
            if isinstance(it, ast.Call):
                called.add(dotted(it.func).rpartition(".")[2])
                yield it
    for source in (text for index, text in sources.items() if index <= cell and "def " in text):
        tree = parsed(source)
        for it in ast.walk(tree) if tree else ():
            if isinstance(it, (ast.FunctionDef, ast.AsyncFunctionDef)) and it.name in called:
                yield from (node for node in ast.walk(it) if isinstance(node, ast.Call))


def _turned(loop: ast.AST) -> Iterator[ast.AST]:
    body: Iterable[ast.AST] = loop.body if isinstance(loop, _LOOPS) else ()
    for statement in body:
        yield from ast.walk(statement)


def _bytes_of(call: ast.Call, names: dict[str, Any]) -> int:
    """What the tensor of torch.zeros() and its like takes; 0 where it is none, or the source does not
    say."""
    torch = _native.fields_of_module("torch")
    function = meant_by(dotted(call.func), names)
    if function is None:
        return 0
    factory = next((it for it in _FACTORIES if torch.get(it) is function), "")
    if not factory:
        return 0
    words = {it.arg: it.value for it in call.keywords}
    sizes = [words["size"]] if "size" in words else call.args
    if factory == "full":
        sizes = sizes[:1]
    numbers = [it for size in sizes for it in _numbers(size, names)]
    if not numbers or None in numbers or (factory in ("eye", "arange") and len(numbers) != 1):
        return 0
    dtype = meant_by(dotted(words["dtype"]), names) if "dtype" in words else None
    if "dtype" in words and type(dtype) is not torch["dtype"]:
        return 0
    if dtype is None:
        # What is filled with whole numbers has their type.
        if factory in ("full", "arange"):
            return 0
        dtype = torch["get_default_dtype"]()
    count = prod(it for it in numbers if it is not None)
    return int(count * (count if factory == "eye" else 1) * dtype.itemsize)


def _numbers(size: ast.expr, names: dict[str, Any]) -> list[int | None]:
    if isinstance(size, (ast.Tuple, ast.List)):
        return [it for element in size.elts for it in _numbers(element, names)]
    if isinstance(size, ast.BinOp) and isinstance(size.op, ast.Mult):
        left, right = _numbers(size.left, names), _numbers(size.right, names)
        known = [it for it in left + right if it is not None]
        return [prod(known)] if len(known) == len(left + right) else [None]
    value = size.value if isinstance(size, ast.Constant) else None
    if isinstance(size, ast.Name):
        value = names.get(size.id)
    return [value if type(value) is int else None]


def _chains(
    cell: int, sources: Mapping[int, str], names: dict[str, Any], blocks: _Blocks
) -> Iterator[_native.Holder]:
    """Names that statements in a row made again, where blocks of their size were freed and both the
    old and the new one were there at once."""
    tree = parsed(sources.get(cell, ""))
    if tree is None:
        return
    from xleak import _torch

    record = _native.record(cell)
    peak = None if record is None else record.tensor_peak_bytes
    shared = _shared_names(sources)
    for name, length in _chains_in(tree):
        if name in shared:
            continue
        size = _bytes_of_tensor(names.get(name))
        freed = blocks.get(size, 0) >= length - 1
        twice = peak is not None and peak - _torch.live_bytes() >= _WHOLE * size
        if size >= _LARGE_BYTES and freed and twice:
            yield _native.Holder(
                "chain",
                f"{name} in {name_of_run(cell)}",
                size,
                cell,
                _native.human(size),
                length,
                "",
            )


def _shared_names(sources: Mapping[int, str]) -> set[str]:
    """Names of what another name has too, or had: it may not be changed in place."""
    found: set[str] = set()
    for source in sources.values():
        tree = parsed(source)
        for it in ast.walk(tree) if tree else ():
            if isinstance(it, ast.Assign) and isinstance(it.value, ast.Name):
                found |= {it.value.id, *(t.id for t in it.targets if isinstance(t, ast.Name))}
    return found


def _chains_in(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(name, statements) of what the cell itself runs."""
    pending: list[list[ast.stmt]] = [tree.body]
    for body in pending:
        last, length = "", 0
        for name in [*map(_made_anew, body), ""]:
            if name and name == last:
                length += 1
                continue
            if length >= _CHAIN:
                yield last, length
            last, length = name, 1
        blocks = [it for it in body if isinstance(it, (ast.With, ast.If, *_LOOPS))]
        pending += [it.body for it in blocks]


def _made_anew(statement: ast.stmt) -> str:
    """`x` of `x = x - 1`, where the operation has a twin that works in place; else nothing."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Name):
        return ""
    operand: ast.expr | None = None
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        operand = value.left
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        known = value.func.attr in _IN_PLACE
        of_torch = dotted(value.func.value) == "torch" and bool(value.args)
        operand = (value.args[0] if of_torch else value.func.value) if known else None
    return target.id if isinstance(operand, ast.Name) and operand.id == target.id else ""


def _bytes_of_tensor(it: Any) -> int:
    """Of a tensor without a graph, all of its memory; 0 of anything else."""
    if type(it) is not loaded_class("torch", "Tensor") or it.requires_grad or has_graph(it):
        return 0
    return int(it.untyped_storage().nbytes())
