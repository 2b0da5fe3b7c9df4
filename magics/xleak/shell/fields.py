"""The attributes of objects and classes, read past what the user's code may answer."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType, FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType
from typing import Any

from xleak import _native
from xleak.originals import _getframe

_DICT: Any = type.__dict__["__dict__"]
_MRO: Any = type.__dict__["__mro__"]
_NAME: Any = type.__dict__["__name__"]
# A dictionary; from Python 3.13 on a view of a function's frame.
_SHOWN = type((lambda: _getframe().f_locals)())


def is_text(value: object, text: str) -> bool:
    """Whether a value is exact text, and that one."""
    return type(value) is str and value == text


def fields_of(it: object) -> dict[Any, Any]:
    """A copy of the attributes that stand in an object itself; empty where it keeps none in a dictionary."""
    return _native.entries_of(dictionary_of(it))


def dictionary_of(it: object) -> object:
    """The dictionary itself that an object keeps them in, which is only to be compared; None without one."""
    for base in ancestors_of(type(it)):
        slot = class_fields(base).get("__dict__")
        # Of a class of the user's it may be a property, which is code.
        if type(slot) is GetSetDescriptorType:
            return slot.__get__(it)
    return None


def slot_of(it: object, name: str) -> Any:
    """An attribute that the class of an object has a place for in `__slots__`; None without one."""
    slot = class_fields(type(it)).get(name)
    return slot.__get__(it) if type(slot) is MemberDescriptorType else None


def slots_of(it: object) -> dict[str, Any]:
    """All that an object has in the places of `__slots__`."""
    found = {}
    for base in ancestors_of(type(it)):
        for name, slot in class_fields(base).copy().items():
            if type(slot) is MemberDescriptorType and name not in found:
                try:
                    found[name] = slot.__get__(it)
                except AttributeError:
                    continue
    return found


def class_fields(owner: type) -> Any:
    """The attributes that stand in a class itself, as a mapping; its copy() is made in one piece."""
    return _DICT.__get__(owner)


def ancestors_of(owner: type) -> tuple[type, ...]:
    """A class and its bases, in the order of its attributes."""
    found: tuple[type, ...] = _MRO.__get__(owner)
    return found


def class_name(owner: type) -> str:
    """The name that a class was made with."""
    return str(_NAME.__get__(owner))


def loaded_class(module: str, name: str) -> Any:
    """A class of a library, where the process has imported it; else None."""
    found = _native.fields_of_module(module).get(name)
    # The type of a type may be a metaclass.
    return found if _native.is_kind_of(found, type) else None


def is_instance(it: object, module: str, name: str) -> bool:
    """Whether an object is of a library's class, by its type alone."""
    base = loaded_class(module, name)
    # By identity: a metaclass may compare as it likes.
    return base is not None and any(own is base for own in ancestors_of(type(it)))


def module_of_callable(it: object) -> str:
    """The module of a function, or of a method's; empty for what else may be called."""
    function = it.__func__ if type(it) is MethodType else it
    is_known = type(function) is FunctionType or type(function) is _native.Unseen
    module = function.__module__ if is_known else None
    return module if type(module) is str else ""


def locals_of(frame: FrameType) -> dict[str, Any]:
    """A copy of the locals of a frame; empty where the user's mapping is in their place."""
    shown: Any = frame.f_locals
    return _native.entries_of(dict(shown) if type(shown) is _SHOWN else shown)


def instances(
    live: _native.LiveObjects, module: str, name: str
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """(object, attributes) of the objects of a library's class, where it is imported."""
    base = loaded_class(module, name)
    if base is not None:
        yield from ((it, fields_of(it)) for it in live.instances(base))
