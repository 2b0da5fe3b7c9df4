"""Callbacks for the end of the process, or of an object, that keep what they were bound to."""

from __future__ import annotations

import functools
import signal
import types
import weakref
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.holders.counts import Counts
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.origin import is_of_the_user, name_and_module

# Of what has no way to it but from where Python cannot look.
_OUTSIDE = "native code or a running function"


def finalizers(look: Look) -> Iterator[_native.Holder]:
    """Those of `weakref.finalize` that own the very object whose end they wait for, by function."""
    groups: dict[tuple[str, str], list[tuple[object, int]]] = {}
    registry: dict[Any, Any] = vars(weakref.finalize)["_registry"]
    for finalizer, info in _native.items_of(registry):
        target = info.weakref()
        held = look.heap.retained_by(info) if target is not None else 0
        if held >= REPORTED_BYTES and look.heap.keeps(info, target):
            named = name_and_module(info.func)[0], _native.type_name(target)
            groups.setdefault(named, []).append((finalizer, held))
    for (function, owner), members in groups.items():
        chosen = ", ".join(str(id(finalizer)) for finalizer, _ in members)
        release = (
            '[it.detach() for it in list(__import__("weakref").finalize._registry) '
            f'if id(it) in {{{chosen}}}]; __import__("gc").collect();'
        )
        label, held = f"weakref.finalize of {function}", sum(held for _, held in members)
        yield _native.Holder("finalizers", label, held, None, owner, len(members), release)


class ExitHooks:
    """Callables of the user's that only `atexit` can have: nothing that Python shows leads to
    them, and its count rose by as many."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """By function."""
        if self._counts.hooks_added <= 0:
            return
        hooks = list(_held_outside(look))
        if len(hooks) > self._counts.hooks_added:
            return
        groups: dict[str, list[tuple[object, int]]] = {}
        for hook, held in hooks:
            groups.setdefault(name_and_module(hook)[0], []).append((hook, held))
        for name, members in groups.items():
            held = sum(held for _, held in members)
            births = [it for hook, _ in members for it in look.heap.elements(hook)[1]]
            cause = cause_of(look.watcher.shell, births)
            cell, line = (cause.cell, cause.line) if cause else (None, None)
            yield _native.Holder(
                "exit hooks",
                f"atexit: {name}",
                held,
                cell,
                name,
                len(members),
                "",
                line=line,
            )


def _held_outside(look: Look) -> Iterator[tuple[object, int]]:
    """(callable, bytes) of the user's bound methods, functions and partials that keep much."""
    found: list[object] = []
    for kind in (types.MethodType, types.FunctionType, functools.partial):
        found += look.live.instances(kind)
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    for it, held in look.heap.keeping(found, REPORTED_BYTES):
        of_a_signal = any(it is handler for handler in handlers)
        is_users = is_of_the_user(name_and_module(it)[1])
        if is_users and not of_a_signal and look.heap.way_to(it) == _OUTSIDE:
            yield it, held
