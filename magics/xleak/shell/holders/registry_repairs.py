"""Code that takes out of a registry what alone keeps memory there."""

from __future__ import annotations

import re
from typing import Any

from xleak.shell.fields import loaded_class
from xleak.shell.heap import user_names
from xleak.shell.holders.look import LEAST_BYTES, Look
from xleak.shell.registries import TIMER, is_waiting_timer

_HOOK = re.compile(r"the hook (\w+)\.(\w+?hook)\b")
_HANDLER = re.compile(r"the handler of (SIG\w+)")
# Their threads end, and with them what they were to hand over.
_CANCELLED = "[(it.cancel(), it.join()) for it in threading.enumerate() if id(it) in %s];"
_LOOP = "asyncio's event loop"
_WAITING = (
    ("asyncio.all_tasks()", "_asyncio", "Task"),
    ("asyncio.get_event_loop()._scheduled[:]", "asyncio.events", "TimerHandle"),
)


def repair_of(look: Look, way: str) -> str:
    """Empty where a registry's own way to do it is not known."""
    if found := _HOOK.match(way):
        module, name = found.groups()
        return f"import {module}; {module}.{name} = {module}.__{name}__"
    if found := _HANDLER.match(way):
        return f"import signal; signal.signal(signal.{found.group(1)}, signal.SIG_DFL);"
    if way.startswith(TIMER):
        base = loaded_class("threading", "Timer")
        waiting = (
            [it for it in look.live.instances(base) if is_waiting_timer(it)]
            if base is not None
            else []
        )
        chosen = _chosen(look, waiting)
        return f"import threading; {_CANCELLED % chosen}" if chosen else ""
    return _cancelling(look) if way.startswith(_LOOP) else ""


def _chosen(look: Look, members: list[Any]) -> str:
    """The identities of those that alone keep memory and that no name leads to, as a set in code; empty where there
    are none."""
    names = set(user_names(look.watcher))
    ids = [
        str(id(it))
        for it, _ in look.heap.keeping(members, LEAST_BYTES)
        if names.isdisjoint(look.heap.names_leading_to(it))
    ]
    return f"{{{', '.join(ids)}}}" if ids else ""


def _cancelling(look: Look) -> str:
    """Of tasks and timers that wait."""
    parts = []
    for where, module, name in _WAITING:
        base = loaded_class(module, name)
        chosen = _chosen(look, look.live.instances(base)) if base is not None else ""
        parts += [f"[it.cancel() for it in {where} if id(it) in {chosen}];"] if chosen else []
    return " ".join(["import asyncio;", *parts]) if parts else ""
