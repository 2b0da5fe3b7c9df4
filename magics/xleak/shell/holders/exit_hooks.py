"""Callbacks for the end of the process, or of an object, that keep what they were bound to."""

from __future__ import annotations

import ast
import atexit
import functools
import types
import weakref
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.births import cause_of, is_import
from xleak.shell.heap import OUTSIDE, user_names
from xleak.shell.holders.calls import dotted, meant_by
from xleak.shell.holders.counts import Counts
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.origin import is_of_the_user, name_and_module
from xleak.shell.holders.registrations import is_used_after, registration_of, taking_back
from xleak.shell.process_account import resident_pages
from xleak.shell.source import parsed


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
        hooks = list(_held_outside(look)) if look.settled or self._counts.hooks_added > 0 else []
        at_exit = len(hooks) <= self._counts.hooks_added
        groups: dict[str, list[tuple[object, int]]] = {}
        for hook, held in hooks:
            groups.setdefault(name_and_module(hook)[0], []).append((hook, held))
        for name, members in groups.items() if at_exit or look.settled else ():
            births = [it for hook, _ in members for it in look.heap.elements(hook)[1]]
            cause = cause_of(look.watcher.shell, births)
            taken = None if at_exit else registration_of(look, members[0][0])
            if taken and is_used_after(look, taken, max(cell for cell, *_ in births)):
                continue
            by = "atexit" if at_exit else taken.taker if taken else "native code"
            yield _native.Holder(
                "exit hooks" if at_exit else "callbacks of native code",
                f"{by}: {name}",
                sum(held for _, held in members),
                cause.cell if cause else None,
                name,
                len(members),
                taking_back(look, taken) if taken else "",
                line=cause.line if cause else None,
            )
        if look.settled and self._counts.hooks_added > len(hooks):
            yield from self._of_arguments(look)
        if look.settled:
            yield from _objects_outside(look)

    def _of_arguments(self, look: Look) -> Iterator[_native.Holder]:
        """The arguments that cells registered beside their callbacks, which no object of Python's shows."""
        callbacks = list(_registered_with_arguments(look))
        pages = resident_pages() if callbacks else None
        if pages is None:
            return
        births = [
            birth
            for birth in [*look.heap.account([], pages).unseen, *look.heap.births_outside()]
            if birth[0] in self._counts.hooks_by_cell
            and birth[1] is not None
            and not is_import(birth[1])
        ]
        cause, held = cause_of(look.watcher.shell, births), sum(size for *_, size in births)
        if cause is None or held < REPORTED_BYTES:
            return
        names = sorted(set(callbacks))
        count = sum(self._counts.hooks_by_cell[cell] for cell in {cell for cell, *_ in births})
        own = user_names(look.watcher)
        release = "; ".join(f"atexit.unregister({it})" for it in names if it in own)
        yield _native.Holder(
            "exit hooks",
            f"atexit: {', '.join(names)}",
            held,
            cause.cell,
            ", ".join(names),
            count,
            f"import atexit; {release}" if release else "",
            line=cause.line,
        )


def _registered_with_arguments(look: Look) -> Iterator[str]:
    """The callbacks as the cells have them."""
    entries: dict[str, Any] | None = None
    for source in look.sources.values():
        tree = parsed(source) if "register" in source else None
        for it in ast.walk(tree) if tree else ():
            if isinstance(it, ast.Call) and it.args and (it.args[1:] or it.keywords):
                entries = entries or _native.entries_of(look.watcher.shell.user_ns)
                if meant_by(dotted(it.func), entries) is atexit.register:
                    yield ast.unparse(it.args[0])


def _objects_outside(look: Look) -> Iterator[_native.Holder]:
    """Objects of the user's classes that native code alone has, as a stack of modes has one that was never left."""
    made = look.live.made_in(look.watcher.shell.user_ns)
    objects = [it for it in made if not _native.is_exactly(it, (types.FunctionType,))]
    groups: dict[str, list[tuple[object, int]]] = {}
    for it, held in look.heap.keeping(objects, REPORTED_BYTES):
        if look.heap.way_to(it) == OUTSIDE:
            groups.setdefault(_native.type_name(it), []).append((it, held))
    for name, members in groups.items():
        births = [birth for it, _ in members for birth in look.heap.elements(it)[1]]
        cause = cause_of(look.watcher.shell, births)
        if cause is not None:
            yield _native.Holder(
                "objects of native code",
                f"native code: {name}",
                sum(held for _, held in members),
                cause.cell,
                name,
                len(members),
                "",
                line=cause.line,
            )


def _held_outside(look: Look) -> Iterator[tuple[object, int]]:
    """(callable, bytes) of the user's bound methods, functions and partials that keep much."""
    found: list[object] = []
    for kind in (types.MethodType, types.FunctionType, functools.partial):
        found += look.live.instances(kind)
    for it, held in look.heap.keeping(found, REPORTED_BYTES):
        if is_of_the_user(name_and_module(it)[1]) and look.heap.way_to(it) == OUTSIDE:
            yield it, held
