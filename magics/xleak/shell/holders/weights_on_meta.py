"""Modules that were loaded and have Parameters without values beside those that have them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of
from xleak.shell.holders.look import Look, is_the_users
from xleak.shell.holders.places import as_written
from xleak.shell.module_devices import OFFLOADED, device_of
from xleak.shell.modules import entries_of, live_modules, outermost, parts_of
from xleak.shell.tensor_fields import is_tensor

_LOADS = re.compile(r"\bload_state_dict\(")
_WORD = re.compile(r"[^\W\d]\w*")


class WeightsOnMeta:
    """Told from the cell after the load on: a checkpoint may come in parts, cell by cell."""

    def __init__(self) -> None:
        self._loaded = 0
        """The cell that called load_state_dict() last."""
        self._names: set[str] = set()
        """The words of that cell: a module that it does not name was loaded by another one."""
        self._told = False

    def after_cell(self, index: int, source: str) -> bool:
        """Whether a module was loaded, or one was told of."""
        loads = _LOADS.search(source) is not None
        if loads:
            self._loaded, self._names = index, set(_WORD.findall(source))
        return loads or self._told

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each model."""
        self._told = False
        for root in outermost(live_modules(look.live)) if self._loaded else []:
            on_meta, all_of_them = _weights(root)
            way = as_written(look.heap.way_to(root)) if 0 < on_meta < all_of_them else ""
            named = _WORD.match(way)
            if not is_the_users(way) or named is None or named.group() not in self._names:
                continue
            if self._loaded < look.cell:
                self._told = True
                told = f"{on_meta} of {all_of_them} Parameters"
                cell = self._loaded
                yield _native.Holder("weights without values", way, 0, cell, told, on_meta, "")
            else:
                look.search_again()


def _weights(root: Any) -> tuple[int, int]:
    """(Parameters on meta, all Parameters); none of a module whose weights are brought for each pass."""
    devices: list[str] = []
    for part in parts_of(root):
        if any(name in fields_of(part) for name in OFFLOADED):
            return 0, 0
        weights = entries_of(part, "_parameters").values()
        devices += [device_of(it) for it in weights if is_tensor(it)]
    return devices.count("meta"), len(devices)
