"""Which attributes of an object its own methods may read, by their code alone."""

from __future__ import annotations

import dis
import functools
import types
from typing import Any

from xleak import _native
from xleak.shell.fields import ancestors_of, class_fields

_OF_IT = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR")
_READING = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "LOAD_NAME", "LOAD_GLOBAL")
# Of what is an attribute's alone, or a cell for an inner function, whose own code is read too.
_NAMING = (*_OF_IT, "LOAD_CONST", "LOAD_GLOBAL", "LOAD_CLOSURE", "LOAD_NAME")
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
_SAYS = ("__str__", "__repr__", "__format__")


def may_read(owner: object, operation: str, parts: set[str], own: set[str]) -> bool:
    """Whether an attribute or an operation of an object reads one of `parts`. own: all names that stand in the object
    itself. What is no code of Python's may read all."""
    if operation in parts:
        return True
    if operation in own:
        return False
    kind = type(owner)
    # What is not there is made by a method that answers for any name.
    if _found(kind, operation) is None and _found(kind, "__getattr__") is not None:
        return True
    pending, followed = [operation], {operation}
    while pending:
        names = _names_read(kind, pending.pop())
        if names is None or not parts.isdisjoint(names):
            return True
        new = names - followed - own
        followed |= new
        pending += new
    return False


def _found(kind: type, name: str) -> tuple[type, Any] | None:
    """The class that has an attribute, and what it has."""
    for base in ancestors_of(kind):
        found = class_fields(base).get(name)
        if found is not None:
            return base, found
    return None


def _names_read(kind: type, name: str) -> set[str] | None:
    """The names in the code behind an attribute; None where it is not known what it reads."""
    base: type
    found: Any
    base, found = _found(kind, name) or (object, None)
    if type(found) is property:
        found = found.fget
    elif type(found) is functools.cached_property:
        found = found.func
    elif _native.is_exactly(found, (staticmethod, classmethod)):
        found = found.__func__
    names: set[str] = set()
    while type(found) is types.FunctionType:
        its = _names_in(found.__code__)
        if its is None:
            return None
        names |= its
        found = found.__dict__.get("__wrapped__")
    if found is None or _native.is_exactly(found, _SLOTS) or not _runs_code(found):
        return names
    # An object says its type and address, an exception what it was made with.
    return {"args"} if name in _SAYS and base in (object, BaseException) else None


def _runs_code(it: object) -> bool:
    bases = ancestors_of(type(it))
    return any(
        "__call__" in class_fields(base) or "__get__" in class_fields(base) for base in bases
    )


def _names_in(code: types.CodeType) -> set[str] | None:
    """None where the object itself goes elsewhere: `return self`, `helper(self)`."""
    own = code.co_varnames[0] if code.co_argcount else None
    names: set[str] = set()
    pending = [code]
    while pending:
        part = pending.pop()
        steps = list(dis.get_instructions(part))
        # To set an attribute reads none.
        names.update(step.argval for step in steps if step.opname in _READING)
        if own is not None and not _stays(steps, own):
            return None
        pending += [it for it in part.co_consts if type(it) is types.CodeType]
    return names


def _stays(steps: list[dis.Instruction], own: str) -> bool:
    """Whether code takes nothing of a variable but attributes."""
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        is_own = step.argval == own or (type(step.argval) is tuple and own in step.argval)
        if not step.opname.startswith("LOAD_") or step.opname in _NAMING or not is_own:
            continue
        if type(step.argval) is tuple or after is None or after.opname not in _OF_IT:
            return False
    return True
