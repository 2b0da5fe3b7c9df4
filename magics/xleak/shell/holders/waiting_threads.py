"""Threads that wait for what nobody else can give them: a loop over a prefetching loader that was left early leaves
one, with its full queue."""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.originals import threading
from xleak.render.units import counted
from xleak.shell.births import Birth, Cause, cause_of
from xleak.shell.heap import OUTSIDE
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.registries import THREADS
from xleak.shell.waiting import frames_of_others

_WAIT = threading.Condition.wait.__code__
_GLOBALS = threading.Condition.wait.__globals__
_ACTIVE: Any = _GLOBALS["_active"]
# What leads to any thread that runs, and to what it works with.
_OF_THREADS = (THREADS, "threading._active[", OUTSIDE)
_MOST_WAYS = 16
# It ends as by sys.exit(), once the wait that has no end is over.
_END = (
    "import ctypes, sys, threading; "
    "[(ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(t.ident), ctypes.py_object(SystemExit)), "
    "c.acquire(), c.notify_all(), c.release(), t.join(5)) for t in threading.enumerate() if t.ident in {%s} "
    "for c in [sys._current_frames()[t.ident].f_locals['self']]];"
)


@dataclass(frozen=True)
class _Waiting:
    ident: int
    name: str
    """The type of the thread, or the function that it runs."""
    waits_in: str
    kept: int
    births: list[Birth]


class WaitingThreads(AtVerdict):
    """A name, or another thread, that leads to the condition could notify it: then it is none."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for the threads whose memory one line made."""
        frames: dict[int, list[types.FrameType]] = defaultdict(list)
        for ident, frame in frames_of_others():
            frames[ident].append(frame)
        alike: dict[tuple[str, Cause], list[_Waiting]] = defaultdict(list)
        for ident, own in frames.items():
            others = [it for other, its in frames.items() if other != ident for it in its]
            waiting = _waiting(look, ident, own, others)
            cause = cause_of(look.watcher.shell, waiting.births) if waiting else None
            if waiting and cause:
                alike[waiting.name, cause].append(waiting)
        unread = {
            (it.since_cell, it.line)
            for it in look.reported.values()
            if it.kind == "unread variable"
        }
        for (name, cause), its in alike.items():
            more = counted(len(its) - 1, "other") if len(its) > 1 else ""
            label = f"thread {name} and {more}" if more else f"thread {name}"
            held = sum(it.kept for it in its)
            is_known = (cause.cell, cause.line) in unread
            if held >= REPORTED_BYTES and not is_known and is_asked(label):
                yield _native.Holder(
                    "waiting threads",
                    label,
                    held,
                    cause.cell,
                    its[0].waits_in,
                    len(its),
                    _END % ", ".join(str(it.ident) for it in its),
                    line=cause.line,
                )


def _waiting(
    look: Look, ident: int, own: list[types.FrameType], others: list[types.FrameType]
) -> _Waiting | None:
    """None where it does not wait, or not for ever."""
    if own[0].f_code is not _WAIT:
        return None
    variables = _native.locals_of(own[0])
    condition = variables.get("self")
    if variables.get("timeout") is not None or not _is_its_alone(look, condition):
        return None
    if look.heap.led_to(_values(others), [condition]):
        return None
    kept = [it for it in _values(own) if _is_its_alone(look, it)]
    owners = [it for it in kept if not any(_keeps(look, other, it) for other in kept)]
    births = [birth for it in owners for birth in _births(look, it)]
    waits_in = next((it for it in own if it.f_globals is not _GLOBALS), own[-1])
    return _Waiting(
        ident,
        _name(ident, own),
        f"{waits_in.f_code.co_name}()",
        sum(look.heap.retained_by(it) for it in owners),
        births,
    )


def _is_its_alone(look: Look, it: object) -> bool:
    """Whether running threads alone lead to an object."""
    ways = look.heap.ways_besides(it, [THREADS], _MOST_WAYS)
    return 0 < len(ways) < _MOST_WAYS and all(way.startswith(_OF_THREADS) for way in ways)


def _keeps(look: Look, owner: object, it: object) -> bool:
    return owner is not it and look.heap.keeps(owner, it)


def _births(look: Look, owner: object) -> list[Birth]:
    return look.heap.births_of_own([owner]) + look.heap.elements(owner)[1]


def _values(frames: list[types.FrameType]) -> list[Any]:
    found = [it for frame in frames for it in _native.locals_of(frame).values()]
    return list({id(it): it for it in found}.values())


def _name(ident: int, own: list[types.FrameType]) -> str:
    thread = dict(_native.items_of(_ACTIVE)).get(ident)
    if thread is not None and type(thread) is not threading.Thread:
        return _native.type_name(thread)
    functions = [it.f_code.co_name for it in own if it.f_globals is not _GLOBALS]
    return functions[-1] if functions else "without a name"
