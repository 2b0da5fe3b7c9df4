"""What executed cells call, as the source writes it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from xleak import _native
from xleak.shell.source import parsed, parsed_in_magic

# Cells are read again at each look.
_MOST = 256


def nodes_of(source: str) -> Iterator[ast.AST]:
    """All nodes of a cell, and of the code that its magics run."""
    pending = [parsed(source)]
    for tree in pending:
        for node in ast.walk(tree) if tree else ():
            yield node
            if isinstance(node, ast.Call) and (inner := parsed_in_magic(node)):
                pending.append(inner)


def methods_called(sources: Iterable[str]) -> set[str]:
    """The last names of all that is called: `backward` of `loss.backward()`."""
    return {call.rpartition(".")[2] for source in sources for call in calls_in(source)}


@functools.lru_cache(_MOST)
def calls_in(source: str) -> frozenset[str]:
    """`torch.load`, `net.backward`, `grad`: what is called, up to the first bracket."""
    calls = (it for it in nodes_of(source) if isinstance(it, ast.Call))
    return frozenset(dotted(it.func) for it in calls)


def dotted(callee: ast.expr) -> str:
    """`a.b.c`; `.c` of what has no name, such as the result of another call."""
    if isinstance(callee, ast.Attribute):
        return f"{dotted(callee.value)}.{callee.attr}"
    return callee.id if isinstance(callee, ast.Name) else ""


def meant_by(name: str, entries: dict[str, Any]) -> Any:
    """What a dotted name of modules' stands for, None where it is not known. entries: a copy of the namespace by
    _native.entries_of(), for all names that are asked for."""
    first, *others = name.split(".")
    found = entries.get(first)
    for other in others:
        found = vars(found).get(other) if type(found) is ModuleType else None
    return found


def is_torchs(name: str, path: str, entries: dict[str, Any]) -> bool:
    """Whether a dotted name stands for a function of torch's, such as "torch.autograd.grad". entries: as above."""
    module, _, function = path.rpartition(".")
    fields: Any = _native.fields_of_module(module)
    found = fields.get(function)
    # A function may have imported it by itself.
    return found is not None and (name == path or meant_by(name, entries) is found)
