"""Memory that cells made and that no name of the user's leads to: the general answer, after those of single smells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from xleak import _native
from xleak.shell.births import Birth, Cause, cause_of, is_import
from xleak.shell.heap import running_labels
from xleak.shell.holders.look import REPORTED_BYTES, SINGLE_BYTES, Look
from xleak.shell.holders.origin import is_of_the_user
from xleak.shell.holders.places import as_written
from xleak.shell.holders.registry_repairs import repair_of
from xleak.shell.holders.repairs import taking_out
from xleak.shell.registries import hooks, timers
from xleak.shell.waiting import UNREAD_VARIABLE

# Fewer are no growth.
_STEPS = 3
_CACHE = "functools._lru_cache_wrapper"
# The texts of what cells showed, which the shell writes to its database and keeps for `%notebook`.
_OF_HISTORY = re.compile(r"\bHistoryManager\b|'history_manager'|\.history_manager\b")
_IN_MODULE = re.compile(r"sys\.modules\['([^']+)'\]\.")


def out_of_reach(look: Look) -> Iterator[_native.Holder]:
    """One holder for each object or container that keeps such memory, once it outlived the cell that made it."""
    of_hooks = [label for *_, label in hooks()]
    # A task or a timer that still waits at the end, and that no name leads to, nobody can await or cancel.
    goes_on = not look.settled
    in_use = [*running_labels(), *(timers(look.watcher.shell) if goes_on else [])]
    alike: dict[Cause, list[_native.Holding]] = {}
    unread: dict[Cause, list[_native.Holding]] = {}
    for found in look.heap.out_of_reach(in_use, of_hooks, goes_on, REPORTED_BYTES):
        cause = cause_of(look.watcher.shell, found.births)
        if cause is None or _is_a_librarys_own(found) or _is_reported(look, found.way):
            continue
        if max(cell for cell, _, _ in found.births) >= look.cell:
            look.search_again()
        elif found.way.startswith(UNREAD_VARIABLE):
            unread.setdefault(cause, []).append(found)
        elif _may_be_in_use(found):
            alike.setdefault(cause, []).append(found)
        else:
            repair = repair_of(look, found.way) or taking_out(look, found.way, found.bytes)
            yield _holder(cause, [found], repair)
    # Each of several threads that run one function has its own.
    yield from (_holder(cause, its, "", "unread variable") for cause, its in unread.items())
    # One that is in use is one, not one more with each call of the line that makes it.
    for cause, its in alike.items():
        if len(its) >= _STEPS:
            repairs = dict.fromkeys(repair_of(look, it.way) for it in its)
            yield _holder(cause, its, next(iter(repairs)) if len(repairs) == 1 else "")


def _holder(
    cause: Cause, found: list[_native.Holding], repair: str, kind: str = "out of reach"
) -> _native.Holder:
    first, *others = found
    label = as_written(_IN_MODULE.sub(r"\1.", first.way, count=1)).removesuffix(".__dict__")
    return _native.Holder(
        kind,
        f"{label} and {len(others)} others" if others else label,
        sum(it.bytes for it in found),
        cause.cell,
        first.type_name,
        sum(it.count for it in found),
        f"{_expression(first.way)}.cache_clear()" if first.type_name == _CACHE else repair,
        line=cause.line,
    )


def _may_be_in_use(found: _native.Holding) -> bool:
    # What code of the user's captured is theirs, not a buffer that a library works with; the handler of a signal is one
    # object that waits for its use.
    is_theirs = found.by_users_code and not found.way.startswith("the handler of ")
    return found.count == 1 and not is_theirs and found.bytes < SINGLE_BYTES


def _is_a_librarys_own(found: _native.Holding) -> bool:
    if _OF_HISTORY.search(found.way):
        return True
    # What no line of the user's made is a library's own, as the sources that drawing a traceback reads.
    of_lines = sum(size for _, place, size in found.births if place is not None)
    if 2 * of_lines < found.bytes:
        return True
    module = _IN_MODULE.match(found.way)
    # What a module of the user's own keeps is behind a name of theirs.
    return _are_imports(found.births) or (module is not None and is_of_the_user(module.group(1)))


def _expression(way: str) -> str:
    return f'__import__("sys").{way[4:]}' if way.startswith("sys.modules") else way


def _is_reported(look: Look, way: str) -> bool:
    """Whether a smell of its own has reported it, or what is in it."""
    return any(way.startswith(label) or label.startswith(way) for label in look.reported)


def _are_imports(births: Sequence[Birth]) -> bool:
    places = [place for _, place, _ in births if place is not None]
    return bool(places) and all(is_import(place) for place in places)
