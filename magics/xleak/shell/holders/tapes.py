"""Persistent tapes of TensorFlow that a name still has, though no cell asks them any more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.fields import instances
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users

# As many cells in a row without it are no pause.
_IDLE_CELLS = 3
_HEAD = re.compile(r"\w+")


class Tapes:
    """Told after some cells without them: gradients are often asked for in the next ones."""

    def __init__(self) -> None:
        self._since: dict[int, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for all tapes: what they recorded is native code's, which does not tell whose."""
        before, self._since = self._since, {}
        ways: dict[str, Any] = {}
        for tape, fields in instances(
            look.live, "tensorflow.python.eager.backprop", "GradientTape"
        ):
            # One that told its gradient, and is not persistent, has nothing any more.
            if fields.get("_tape") is None:
                continue
            way = look.heap.way_to(tape)
            in_use = fields.get("_recording") is True or fields.get("_persistent") is not True
            if in_use or not is_the_users(way):
                return
            self._since[id(tape)] = before.get(id(tape), look.cell)
            ways[way] = tape
        recorded = _recorded(look) if ways else []
        held = look.heap.freed_without(recorded) if recorded else 0
        if held < REPORTED_BYTES:
            return
        if any(_mentions(look, way) for way in ways):
            look.search_again()
            return
        since, names = min(self._since.values()), ", ".join(sorted(ways))
        alone = all(look.heap.kept_by([way], [tape]) for way, tape in ways.items())
        release = f"del {names}" if alone else ""
        yield _native.Holder("tapes", names, held, since, names, len(recorded), release)


def _recorded(look: Look) -> list[Any]:
    """The tensors that native code alone has."""
    found = instances(look.live, "tensorflow.python.framework.ops", "EagerTensor")
    return [it for it, _ in found if not look.heap.is_reached(it) and look.heap.retained_by(it) > 0]


def _mentions(look: Look, way: str) -> bool:
    """Whether one of the last cells has the name that a way begins with."""
    name = re.compile(rf"\b{_HEAD.match(way)[0]}\b")  # type: ignore[index]
    last = [source for cell, source in look.sources.items() if cell > look.cell - _IDLE_CELLS]
    return any(name.search(source) for source in last)
