"""The built-in containers of the user's making, and what is in them."""

from __future__ import annotations

import re
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from xleak import _native
from xleak.shell.fields import ancestors_of, class_fields, dictionary_of, is_instance
from xleak.shell.holders.look import LEAST_BYTES, Look, is_the_users
from xleak.shell.holders.origin import module_of
from xleak.shell.modules import is_module
from xleak.shell.tensor_fields import tensor_field

# What they have is what the notebook is about.
MODELS = [("torch.nn.modules.module", "Module"), ("sklearn.base", "BaseEstimator")]
# By exact type: what they hold is read without asking an instance.
CONTAINERS: tuple[type, ...] = (list, dict, set, deque, defaultdict, OrderedDict)
_PLAIN: tuple[type, ...] = (int, float, complex, bool, str, type(None))
# The largest of a heap; whatever grows for long is among them.
_MOST = 500
# Code, and what is nothing but its own data.
_CODE = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
_DATA = (str, bytes, bytearray, memoryview, int, float, complex, list, set, deque, tuple)
_SHOWING = (
    *("__array__", "__array_interface__", "__arrow_c_stream__", "__arrow_c_array__"),
    *("__dataframe__", "tobytes", "getbuffer"),
)
# Not the methods of that name: `shape()` of a drawing draws one.
_MEASURES = ("nbytes", "shape")
# What they show is on the screen, or their use goes on behind the scenes.
_WORKING = [
    ("matplotlib.figure", "FigureBase"),
    ("matplotlib.axes._base", "_AxesBase"),
    ("torch.optim.optimizer", "Optimizer"),
    ("ipywidgets.widgets.widget", "Widget"),
]
# Of a special method or attribute: the interpreter's, or in a function.
_HIDDEN = re.compile(r"\.__\w+__")
# Set up by torch.nn.Module for every module, filled by its layers.
_OF_MODULES = re.compile(r"_(?:parameters|buffers|modules|\w+_hooks\w*|non_persistent_\w+)")
# The last step but subscripts: a variable of the call that made a function.
_CAPTURED = re.compile(r"\.__closure__\[\d+\]\.cell_contents(?=(?:\[[^\]]*\])*$)")
_LAST_NAME = re.compile(r"([^\W\d]\w*)(?:\[[^\]]*\])*$")
# Elements of one container that are looked at.
_SAMPLE = 2000


@dataclass(frozen=True)
class Collection:
    """One container, for the time of a look."""

    object: Any
    way: str
    kept: int
    """What would be freed with it, in bytes."""
    owners: list[Any]
    """The objects on the way to it, nearest last."""

    @property
    def name(self) -> str:
        """The last name of the way, as Signs have it."""
        found = _LAST_NAME.search(self.way)
        return found.group(1) if found else ""

    @property
    def as_used(self) -> Collection:
        """The mapping of a library's around it, as a WeakKeyDictionary, by which code uses it; else itself."""
        way, _, attribute = self.way.rpartition(".")
        # Between an object and what it has as an attribute is its dictionary.
        owner = self.owners[-2] if len(self.owners) > 1 else None
        if (
            owner is None
            or dictionary_of(owner) is not self.owners[-1]
            or not attribute.isidentifier()
        ):
            return self
        is_mapping = is_instance(owner, "collections.abc", "MutableMapping")
        if is_users_class(type(owner)) or not is_mapping:
            return self
        return replace(self, way=way, owners=self.owners[:-2])

    @property
    def captured_by(self) -> Any:
        """The function whose own variable of an outer call it is, or an element of it; None where it is none."""
        if not self.owners or _CAPTURED.search(self.way) is None:
            return None
        return next((it for it in reversed(self.owners) if type(it) is types.FunctionType), None)

    @property
    def family(self) -> str:
        """The way without its last subscript."""
        return re.sub(r"\[[^\]]*\]$", "", self.way)

    @property
    def head(self) -> str:
        """The name of the user's that the way starts at."""
        return self.way.partition(".")[0].partition("[")[0]

    @property
    def count(self) -> int:
        """The number of its elements."""
        return int(type(self.object).__len__(self.object))

    def elements(self) -> list[Any]:
        """Its first values, and the first keys of a dictionary."""
        return elements_of(self.object)


def collections_of(
    look: Look, *, with_limit: bool = False, captured: bool = False, least: int = LEAST_BYTES
) -> Iterator[Collection]:
    """Those that are worth a look, with `least` bytes that the heap knows of. with_limit: also
    those that drop their oldest element. captured: also variables of calls that functions have."""
    for found, way, kept, owners in look.heap.containers(least, _MOST):
        collection = Collection(found, way, kept, owners).as_used
        fits = _native.is_exactly(found, CONTAINERS) if with_limit else is_collection(found)
        is_captured = collection.captured_by is not None
        if (
            fits
            and is_the_users(way)
            and _is_of_the_user(collection, look, captured and is_captured)
        ):
            yield collection


def is_collection(it: object) -> bool:
    """Whether it is a built-in container that may grow without end."""
    if type(it) is deque:
        limit: Any = deque.maxlen
        return limit.__get__(it) is None
    return _native.is_exactly(it, CONTAINERS)


def elements_of(collection: Any) -> list[Any]:
    """The first values of a built-in container, and the first keys of a dictionary."""
    keys = [key for key, _ in _native.items_of(collection, 0, _SAMPLE)]
    return keys + _native.values_of(collection, 0, _SAMPLE)


def is_plain(elements: list[Any]) -> bool:
    """Whether they are numbers and texts alone."""
    return all(_native.is_exactly(element, _PLAIN) for element in elements)


def is_users_class(it: Any) -> bool:
    """Whether it is a class that the user's cells made."""
    return _native.is_kind_of(it, type) and module_of(it) == "__main__"


def is_users_function(it: object, look: Look) -> bool:
    """Whether it is a function that the user's cells made."""
    return type(it) is types.FunctionType and it.__globals__ is look.watcher.shell.user_ns


def has_graph(tensor: Any) -> bool:
    """Whether a tensor keeps an autograd graph."""
    is_leaf: bool = tensor_field(tensor, "is_leaf")
    return tensor_field(tensor, "requires_grad") is True and not is_leaf


def is_context(it: object) -> bool:
    """Whether it is the context of an autograd.Function."""
    return is_instance(it, "torch.autograd.function", "BackwardCFunction")


def _is_of_the_user(collection: Collection, look: Look, is_captured: bool) -> bool:
    """Not where an object of a library has it: that knows what it is for."""
    way = _CAPTURED.sub("", collection.way) if is_captured else collection.way
    if _HIDDEN.search(way) or _OF_MODULES.fullmatch(collection.name):
        return False
    return all(_is_open(owner, look) for owner in collection.owners)


def _is_open(owner: Any, look: Look) -> bool:
    if _native.is_exactly(owner, (*CONTAINERS, tuple, types.CellType)) or is_users_class(owner):
        return True
    if is_users_class(type(owner)) or is_module(owner):
        return True
    return is_users_function(owner, look)


def is_code_or_data(value: object) -> bool:
    """Whether a value shows what it has: code, and numbers, texts and containers of them. A dictionary of a library's
    is none."""
    if _native.is_kind_of(value, (*_CODE, *_DATA)) or _native.is_exactly(value, CONTAINERS):
        return True
    fields = [class_fields(base) for base in ancestors_of(type(value))]
    return any(
        name in its and (name in _SHOWING or type(its[name]) is not types.FunctionType)
        for its in fields
        for name in (*_SHOWING, *_MEASURES)
    )


def works_behind_the_scenes(value: object) -> bool:
    """Whether a value is used though no cell does, as a widget that is shown calls its callbacks."""
    return any(is_instance(value, *known) for known in _WORKING)
