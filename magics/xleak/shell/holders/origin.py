"""Whose code a function is of: the user's, or that of an installed library."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

from xleak import _native
from xleak.shell.fields import ancestors_of, class_fields


@functools.cache
def libraries() -> tuple[str, ...]:
    """The folders of the standard library and of installed packages."""
    # Its import loads how the interpreter was built, a table of 900 entries.
    import sysconfig

    return tuple({path for path in sysconfig.get_paths().values() if "lib" in path})


def plain_function(target: object) -> object:
    """The function behind bound methods and partials."""
    while True:
        if type(target) is types.MethodType:
            target = target.__func__
        elif type(target) is functools.partial:
            target = target.func
        else:
            return target


def as_function(target: object) -> object:
    """An object that a class of its own makes callable as its bound `__call__`; others as they are."""
    if _native.is_exactly(target, (types.FunctionType, types.MethodType, functools.partial)):
        return target
    calls = (class_fields(it).get("__call__") for it in ancestors_of(type(target)))
    call = next((it for it in calls if it is not None), None)
    return types.MethodType(call, target) if type(call) is types.FunctionType else target


def name_and_module(target: object) -> tuple[str, str]:
    """(name, module) of a function, or of the class of any other object."""
    function = plain_function(target)
    if _native.is_exactly(function, (types.FunctionType, types.BuiltinFunctionType)):
        named: Any = function
        name, module = named.__qualname__, named.__module__
    else:
        name, module = _native.type_name(function), module_of(type(function))
    # The name is the user's choice, and is shown.
    return name if name.isprintable() else repr(name), module if type(module) is str else ""


def module_of(owner: type) -> str:
    """The module that a class was defined in, as the class itself has it."""
    name = class_fields(owner).get("__module__")
    return name if type(name) is str else ""


def is_of_the_user(module: str) -> bool:
    """Whether a module is the notebook itself or a file of the user's own."""
    root = module.partition(".")[0]
    if root == "__main__":
        return True
    if not root or root in sys.stdlib_module_names or root == "xleak":
        return False
    file = _native.fields_of_module(module).get("__file__")
    return type(file) is str and not is_in_library(file)


def is_in_library(file: str) -> bool:
    """Whether a file is an installed library's."""
    return file.startswith(libraries())
