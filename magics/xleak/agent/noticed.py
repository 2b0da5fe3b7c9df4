"""Whether anybody's code would notice that objects go: a finalizer runs, a weak reference dies."""

from __future__ import annotations

import types
import weakref
from typing import Any

from xleak import _native
from xleak.originals import gc, getrefcount
from xleak.shell.fields import loaded_class
from xleak.shell.own_ref import OwnRef

_BASES: Any = vars(type)["__bases__"]
_ENTRIES: Any = vars(type)["__dict__"]
_MRO: Any = vars(type)["__mro__"]
# Their finalizers end the code that waits in them.
_SUSPENDED = (
    (types.GeneratorType, "gi_frame"),
    (types.CoroutineType, "cr_frame"),
    (types.AsyncGeneratorType, "ag_frame"),
)


def live_objects() -> list[Any]:
    """All whose end code could notice: the collector tracks no arrays, but weak references to them."""
    tracked = gc.get_objects()
    return tracked + _native.untracked_targets(tracked)


def would_be_noticed(going: list[Any]) -> bool:
    """Whether to let these objects go, and no others, can be told by any code. Runs none of it."""
    ids = set(map(id, going))
    finalized: dict[int, bool] = {}
    for it in going:
        kind = type(it)
        # By id: a metaclass may have a hash of its own.
        if id(kind) not in finalized:
            finalized[id(kind)] = any("__del__" in _ENTRIES.__get__(c) for c in _MRO.__get__(kind))
        if finalized[id(kind)] and not _has_ended(it):
            return True
        if weakref.getweakrefcount(it) and not ids.issuperset(_weak_references(it)):
            return True
    return _weak_into_torch(ids)


def _weak_into_torch(going: set[int]) -> bool:
    """Whether a weak reference leads to a storage or a tensor that C++ alone keeps: whether it goes with a tensor
    or a graph, no reference of Python's tells."""
    found = (loaded_class("torch", name) for name in ("Tensor", "UntypedStorage"))
    kinds = tuple(kind for kind in found if kind is not None)
    # The reference of the list, and that of C++. From Python 3.14 on an argument adds none.
    own = next(getrefcount(it) for it in [object()]) + 1
    return any(
        weakref.getweakrefcount(it)
        and getrefcount(it) <= own
        and not going.issuperset(_weak_references(it))
        for it in (gc.get_objects() if kinds else ())
        if _native.is_kind_of(it, kinds)
    )


def collector_is_the_users() -> bool:
    """Whether the user has switched the collector off, debugs it or counts its runs."""
    off = not gc.isenabled() or gc.get_threshold()[0] == 0
    return off or bool(gc.get_debug()) or bool(gc.callbacks)


def _has_ended(it: Any) -> bool:
    frames = (frame for kind, frame in _SUSPENDED if type(it) is kind)
    return any(getattr(it, frame) is None for frame in frames)


def _weak_references(it: Any) -> list[int]:
    """The ids of those that code can have. A class has others, too."""
    references = [
        reference for reference in weakref.getweakrefs(it) if type(reference) is not OwnRef
    ]
    if not _native.is_kind_of(it, type):
        return list(map(id, references))
    # Each of its bases has the one without callback; those of abstract classes call back into C.
    own = len(_BASES.__get__(it)) + len(["the list", "the argument"])
    return [
        id(references[at])
        for at, callback in enumerate([reference.__callback__ for reference in references])
        if not _native.is_exactly(callback, (types.BuiltinFunctionType, type(None)))
        or (callback is None and getrefcount(references[at]) > own)
    ]
