"""What modules of torch have, read without asking them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of, is_instance, loaded_class

_MODULE = ("torch.nn.modules.module", "Module")


def live_modules(live: _native.LiveObjects) -> list[Any]:
    """Every torch.nn.Module that is alive; none where torch was not imported."""
    base = loaded_class(*_MODULE)
    return live.instances(base) if base is not None else []


def outermost(modules: list[Any]) -> list[Any]:
    """Those that are in no other one."""
    inner = {id(child) for it in modules for child in entries_of(it, "_modules").values()}
    return [it for it in modules if id(it) not in inner]


def is_module(it: object) -> bool:
    """Whether an object is a torch.nn.Module, by its type alone."""
    return is_instance(it, *_MODULE)


def entries_of(module: object, name: str) -> dict[Any, Any]:
    """A copy of one of a module's own dictionaries, such as "_parameters"; empty without it."""
    return _native.entries_of(fields_of(module).get(name))


def parts_of(module: object) -> Iterator[Any]:
    """A module and all modules in it, each once."""
    parts = [module]
    known = {id(module)}
    for part in parts:
        yield part
        for child in entries_of(part, "_modules").values():
            if child is not None and id(child) not in known:
                known.add(id(child))
                parts.append(child)
