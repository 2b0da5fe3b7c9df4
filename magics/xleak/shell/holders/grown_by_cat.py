"""Tensors that a loop grew by concatenating them with themselves."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from xleak import _native
from xleak.shell.holders.cat_reader import Scope, Site, scopes_of, sites_run
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.reruns import identity_of

_CATS = {"cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "row_stack"}
_CATS |= {"column_stack"}


@dataclass(frozen=True)
class _Grown:
    """What xleak._torch tells. Sizes in bytes."""

    address: int
    bytes: int
    copied: int
    steps: int


class GrownByCat:
    """Told until the cell runs again without it."""

    def __init__(self) -> None:
        self._measured: dict[int, list[_Grown]] = {}
        self._told: list[_native.Holder] = []

    def after_cell(self, index: int, sources: Mapping[int, str]) -> bool:
        """Whether the cell grew a tensor by copies, or is one that did, run again."""
        module = sys.modules.get("xleak._torch")
        grown = [_Grown(*row) for row in module.grown()] if module is not None else []
        large = [it for it in grown if it.copied >= REPORTED_BYTES]
        if large:
            self._measured[index] = large
        others = [it for it in self._told if not _is_rerun(index, it.since_cell or 0, sources)]
        changed = bool(large) or len(others) < len(self._told)
        self._told = others
        return changed

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each name that was grown, the newest first."""
        for cell, measured in self._measured.items():
            self._told = [*_told_of(cell, measured, look), *self._told]
        self._measured.clear()
        yield from self._told


def _is_rerun(cell: int, before: int, sources: Mapping[int, str]) -> bool:
    return identity_of(cell, sources.get(cell, "")) == identity_of(before, sources.get(before, ""))


def _told_of(cell: int, measured: list[_Grown], look: Look) -> Iterator[_native.Holder]:
    """What is still there is known by its address. Of the rest the largest is told, with all sites
    that it may be of."""
    addresses, of_address = _addresses(look), {it.address: it for it in measured if it.address}
    lost, elsewhere, known = list[Site](), list[Site](), set[int]()
    for site in _sites_of(cell, look):
        address = addresses.get(site.target, 0) if site.is_global else 0
        if address in known:
            continue
        if address in of_address:
            known.add(address)
            yield _holder([site], of_address[address], cell)
        else:
            (elsewhere if address else lost).append(site)
    there = [it for it in measured if it.address not in known | {0}]
    # What is gone may have been a known name's, in an earlier iteration of a loop around.
    gone = [it for it in measured if not it.address and not known]
    left, sites = (there, lost) if there else (gone, lost + elsewhere)
    if left and sites:
        largest = max(left, key=lambda it: it.copied)
        yield _holder(sites, largest, cell)


def _holder(sites: list[Site], grown: _Grown, cell: int) -> _native.Holder:
    code = dict.fromkeys(f"`{it.target} = {ast.unparse(it.callee)}(…)`" for it in sites)
    label = " or ".join(code)
    result = _native.human(grown.bytes)
    return _native.Holder("grown by cat", label, grown.copied, cell, result, grown.steps, "")


def _sites_of(cell: int, look: Look) -> list[Site]:
    names = look.watcher.shell.user_ns
    scopes = {"": Scope([])}
    for source in (source for index, source in look.sources.items() if index <= cell):
        scopes = {**scopes, "": Scope([]), **scopes_of(source)}
    sites = sites_run(scopes.pop(""), scopes)
    return [it for it in sites if _concatenates(it.callee, names)]


def _concatenates(callee: ast.expr, names: dict[str, Any]) -> bool:
    """Whether an expression is torch's own function."""
    functions = _native.fields_of_module("torch")
    if isinstance(callee, ast.Name):
        function = _native.value_at(names, callee.id)
        return any(function is functions.get(name) for name in _CATS) and function is not None
    if not isinstance(callee, ast.Attribute) or not isinstance(callee.value, ast.Name):
        return False
    module = _native.value_at(names, callee.value.id)
    return type(module) is ModuleType and vars(module) is functions and callee.attr in _CATS


def _addresses(look: Look) -> dict[str, int]:
    """Of the memory behind the tensors that names have."""
    from xleak import _torch

    storages = {tensor: row.storage for row in _torch.census() for tensor in row.tensors}
    names = _native.entries_of(look.watcher.shell.user_ns).items()
    return {name: storages[id(it)].address for name, it in names if id(it) in storages}
