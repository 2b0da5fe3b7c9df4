"""Constants of traced functions that TorchScript keeps after their results were dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell import torch_module
from xleak.shell.fields import instances
from xleak.shell.holders.look import LEAST_BYTES, Look, tensors_by_id
from xleak.shell.holders.reruns import identity_of

# By address the bytes of tensors that a function has in its code.
_Constants = dict[int, int]


@dataclass(frozen=True)
class _Trace:
    """A function with constants of its own, and the cell after which it was there."""

    cell: int
    constants: _Constants


class DroppedTraces:
    """Told by the cell that traced, all of its runs together."""

    def __init__(self) -> None:
        self._functions = 0
        self._traces: list[_Trace] = []

    def before_session(self) -> None:
        """What is there now is nobody's."""
        self._functions = len(_functions())

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each cell whose dropped traces keep something."""
        self._note(look.cell)
        if not self._traces or not torch_module.load():
            return
        used = _used(look)
        groups: dict[str, list[_Trace]] = {}
        for it in self._traces:
            if used.isdisjoint(it.constants):
                cell = identity_of(it.cell, look.sources.get(it.cell, ""))
                groups.setdefault(cell, []).append(it)
        for dropped in groups.values():
            held = sum(sum(it.constants.values()) for it in dropped)
            since, count = dropped[0].cell, len(dropped)
            label = f"TorchScript's compilation unit, from {name_of_run(since)} on"
            yield _native.Holder("traces", label, held, since, "constants", count, "")

    def _note(self, cell: int) -> None:
        """Remembers the functions that are new and that brought constants with them."""
        functions = _functions()
        if len(functions) < self._functions:
            self._functions, self._traces = 0, []
        known = {address for it in self._traces for address in it.constants}
        for function in functions[self._functions :]:
            constants = _constants_of(function)
            if constants and known.isdisjoint(constants):
                self._traces.append(_Trace(cell, constants))
                known.update(constants)
        self._functions = len(functions)


def _functions() -> list[Any]:
    """All that TorchScript compiled in this process; it lets go of none."""
    unit = _native.fields_of_module("torch.jit._state").get("_python_cu")
    return [] if unit is None else list(unit.get_functions())


def _constants_of(function: Any) -> _Constants:
    """The large ones. Small ones are never unpacked, which would make a tensor object of each."""
    try:
        nodes = function.graph.findAllNodes("prim::Constant", True)
    except RuntimeError:
        # Not compiled yet, and its code is wrong.
        return {}
    tensors = [it.t("value") for it in nodes if _is_large_tensor(it)]
    storages = [it.untyped_storage() for it in tensors]
    return {it.data_ptr(): it.nbytes() for it in storages}


def _is_large_tensor(node: Any) -> bool:
    if not node.hasAttribute("value") or node.kindOf("value") != "t":
        return False
    sizes = node.output().type().sizes()
    return sizes is not None and prod(sizes) >= LEAST_BYTES // 4


def _used(look: Look) -> set[int]:
    """The addresses that tensors and traced functions in use have."""
    from xleak import _torch

    reached = {it for it, tensor in tensors_by_id(look).items() if look.heap.is_reached(tensor)}
    rows = _torch.census()
    used = {row.storage.address for row in rows if not reached.isdisjoint(row.tensors)}
    for function in _functions_in_use(look):
        used.update(_constants_of(function))
    return used


def _functions_in_use(look: Look) -> Iterator[Any]:
    torch = _native.fields_of_module("torch._C")
    functions = look.live.instances(torch["ScriptFunction"])
    yield from (it for it in functions if look.heap.is_reached(it))
    script: Any = torch["ScriptModule"]
    for module, fields in instances(look.live, "torch.jit", "ScriptModule"):
        compiled = fields.get("_c")
        if compiled is not None and type(compiled) is script and look.heap.is_reached(module):
            names = script._method_names(compiled)
            yield from (script._get_method(compiled, name) for name in names)
