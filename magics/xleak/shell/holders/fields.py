"""The attributes of objects, read past what a class of the user's may answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from xleak import _native


def fields_of(it: object, base: type) -> dict[str, Any]:
    """The instance dictionary of an object whose class derives from a library's class `base`."""
    for owner in base.__mro__:
        if "__dict__" in owner.__dict__:
            fields: dict[str, Any] = owner.__dict__["__dict__"].__get__(it)
            return fields
    return {}


def loaded_class(module: str, name: str) -> type | None:
    """A class of a library, where the process has imported it."""
    found = vars(sys.modules[module]).get(name) if module in sys.modules else None
    # The type of a type may be a metaclass.
    return found if issubclass(type(found), type) else None


def instances(
    live: _native.LiveObjects, module: str, name: str
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """(object, attributes) of the objects of a library's class, where it is imported."""
    base = loaded_class(module, name)
    if base is not None:
        yield from ((it, fields_of(it, base)) for it in live.instances(base))
