"""Tensors of a module that lie on another device than its Parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from xleak import _native
from xleak.shell.fields import ancestors_of, class_name, fields_of
from xleak.shell.holders.containers import is_users_class
from xleak.shell.holders.look import Look, is_the_users
from xleak.shell.holders.operand_code import operands_of_passes
from xleak.shell.holders.places import as_written
from xleak.shell.module_devices import OFFLOADED
from xleak.shell.modules import entries_of, live_modules, outermost, parts_of

_MOVES = re.compile(r"\.(?:to|cuda|xpu|to_empty)\(")


class StrayTensors:
    """Told while a forward pass computes with them as they are."""

    def __init__(self) -> None:
        self._told = False

    def after_cell(self, source: str) -> bool:
        """Whether the cell may have moved a module, or one was told of."""
        devices = _cuda_is_initialized() or "meta" in source or "xpu" in source
        return self._told or (devices and bool(_MOVES.search(source)))

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each attribute."""
        self._told = False
        for root in outermost(live_modules(look.live)):
            device = _device_of_weights(root)
            for part in parts_of(root) if device else ():
                for name, there in _strays(part, device):
                    way = as_written(look.heap.way_to(part))
                    if is_the_users(way) and name in _operands(look, part):
                        self._told = True
                        label = f"{way}.{name}"
                        # What has no values has none to bring along.
                        moved = "" if "meta" in (device, there) else f'{label}.to("{device}")'
                        release = f"{label} = {moved}" if moved else ""
                        told = f"{there}, {device}"
                        yield _native.Holder("stray tensor", label, 0, None, told, 1, release)


def _cuda_is_initialized() -> bool:
    return _native.fields_of_module("torch.cuda").get("_initialized") is True


def _device_of_weights(root: Any) -> str:
    """That of all Parameters; empty where there are several, or none."""
    devices: set[str] = set()
    for part in parts_of(root):
        if any(name in fields_of(part) for name in OFFLOADED):
            return ""
        weights = [it for it in entries_of(part, "_parameters").values() if it is not None]
        if any(type(it) is not _torch("nn.parameter", "Parameter") for it in weights):
            return ""
        devices |= {str(it.device) for it in weights}
    return devices.pop() if len(devices) == 1 else ""


def _strays(part: Any, device: str) -> Iterator[tuple[str, str]]:
    """(name, device) of plain attributes and of buffers that lie elsewhere."""
    if not is_users_class(type(part)):
        return
    for name, value in [*fields_of(part).items(), *entries_of(part, "_buffers").items()]:
        # Those without a dimension mix with any device.
        if type(value) is _torch("", "Tensor") and value.dim() and str(value.device) != device:
            yield name, str(value.device)


def _operands(look: Look, part: Any) -> set[str]:
    classes = [class_name(it) for it in ancestors_of(type(part)) if is_users_class(it)]
    libraries = {
        name
        for name, value in _native.entries_of(look.watcher.shell.user_ns).items()
        if type(name) is str and type(value) is ModuleType and _is_of_torch(value)
    }
    return operands_of_passes(look.sources.values(), classes, libraries)


def _is_of_torch(module: ModuleType) -> bool:
    name = vars(module).get("__name__")
    return type(name) is str and name.partition(".")[0] == "torch"


def _torch(module: str, name: str) -> Any:
    return _native.fields_of_module(f"torch.{module}" if module else "torch").get(name)
