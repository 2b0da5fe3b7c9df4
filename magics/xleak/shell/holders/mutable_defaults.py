"""Containers that are defaults of parameters, and what calls have left in them."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.holders.containers import is_collection, is_users_function
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.signs import SourceSigns

# An element or two are what a default may be for.
_SEVERAL = 3


class MutableDefaults:
    """Defaults that the source shows as empty: what is in them has piled up."""

    def __init__(self, signs: SourceSigns) -> None:
        self._signs = signs

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each parameter."""
        growing = self._signs.of_session(look).growing_defaults
        # A session has a hundred thousand functions.
        for function, step, parameter, default in _defaults(look) if growing else ():
            count = int(type(default).__len__(default))
            kept = look.heap.retained_by(default) if count >= _SEVERAL else 0
            if kept < REPORTED_BYTES or (function, parameter) not in growing:
                continue
            way = look.heap.way_to(default).replace(".__func__.__", ".__")
            # A nearer way is another name's, which an empty container would surprise.
            if is_the_users(way) and way.endswith(step):
                kind = "default as a memo" if _is_memo(default) else "default that grows"
                since = self._signs.cell_that_defines(function, parameter)
                release = f"{way}.clear()"
                yield _native.Holder(kind, way, kept, since, parameter, count, release)


def _defaults(look: Look) -> Iterator[tuple[str, str, str, Any]]:
    """(name of the function, step to it, parameter, container) of the user's functions."""
    for function in look.live.instances(types.FunctionType):
        if not is_users_function(function, look):
            continue
        code, positional = function.__code__, function.__defaults__ or ()
        names = code.co_varnames[: code.co_argcount][-len(positional) :] if positional else ()
        for number, (name, default) in enumerate(zip(names, positional, strict=True)):
            if is_collection(default):
                yield code.co_name, f".__defaults__[{number}]", name, default
        for name, default in _native.items_of(function.__kwdefaults__):
            if is_collection(default):
                yield code.co_name, f".__kwdefaults__['{name}']", name, default


def _is_memo(default: Any) -> bool:
    """Whether it is a dictionary by numbers and texts, which somebody may have meant."""
    if not _native.is_kind_of(default, dict):
        return False
    return all(_native.is_exactly(key, (int, str)) for key, _ in _native.items_of(default))
