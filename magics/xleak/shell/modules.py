"""What modules of torch have, read without asking them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from xleak import _native


def live_modules(live: _native.LiveObjects) -> list[Any]:
    """Every torch.nn.Module that is alive; none where torch was not imported."""
    base = _module_type()
    return live.instances(base) if base is not None else []


def is_module(it: object) -> bool:
    """Whether an object is a torch.nn.Module, by its type alone."""
    base = _module_type()
    return base is not None and issubclass(type(it), base)


def entries_of(module: object, name: str) -> dict[Any, Any]:
    """A copy of one of a module's own dictionaries, such as "_parameters"; empty without it."""
    attributes: Any = vars(_module_type())["__dict__"]
    entries = attributes.__get__(module).get(name)
    # Unbound: the user may have put in a dictionary of their own making.
    return dict(dict.items(entries)) if issubclass(type(entries), dict) else {}


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


def _module_type() -> Any:
    return getattr(sys.modules.get("torch.nn.modules.module"), "Module", None)
