"""Gradient tapes of TensorFlow that keep what they recorded after the last use of their name."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.fields import instances, loaded_class
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.reruns import code_of

_NAME = re.compile(r"[^\W\d]\w*")
# A chain of up to eight steps, of three tensors each, is no chain that grows.
_TENSORS = 8 * 3


class PersistentTapes:
    """Told after the first cell that does not mention the tape."""

    def __init__(self) -> None:
        self._lone: set[int] = set()
        self._garbage: set[int] = set()

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for all of them: a tensor does not say which tape recorded it."""
        tapes = [
            (tape, fields)
            for tape, fields in instances(
                look.live, "tensorflow.python.eager.backprop", "GradientTape"
            )
            if fields.get("_tape") is not None
        ]
        if not any(fields.get("_persistent") is True for _, fields in tapes):
            return
        ways = [look.heap.way_to(tape) for tape, _ in tapes]
        if not all(map(_NAME.fullmatch, ways)) or any(it["_recording"] for _, it in tapes):
            return
        last = max(_last_mention(way, look) for way in ways)
        if last >= look.cell:
            look.search_again()
            return
        count, held = self._only_native(look)
        if count <= _TENSORS or held < REPORTED_BYTES:
            return
        label = ", ".join(sorted(ways))
        since = min(_first_mention(way, look) for way in ways)
        yield _native.Holder("tape", label, held, since, "EagerTensor", count, f"del {label}")

    def _only_native(self, look: Look) -> tuple[int, int]:
        """(number, bytes) of the tensors that native code alone keeps."""
        tensor = loaded_class("tensorflow.python.framework.ops", "EagerTensor")
        alive = [it for it in look.live.instances(tensor) if type(it) is tensor]
        lone = {id(it) for it in alive if not look.heap.is_reached(it)}
        if len(lone) <= _TENSORS:
            return 0, 0
        if lone != self._lone:
            # It takes a walk through the heap.
            self._lone, self._garbage = lone, _in_garbage(lone, look)
        kept = lone - self._garbage
        shared = {address for it in alive if id(it) not in kept for address, _ in buffers(it)}
        sizes = {address: size for it in alive if id(it) in kept for address, size in buffers(it)}
        return len(kept), sum(size for address, size in sizes.items() if address not in shared)


def _last_mention(name: str, look: Look) -> int:
    return max(_mentions(name, look), default=0)


def _first_mention(name: str, look: Look) -> int:
    return min(_mentions(name, look), default=look.cell)


def _mentions(name: str, look: Look) -> list[int]:
    word = re.compile(rf"\b{name}\b")
    return [cell for cell, source in look.sources.items() if word.search(code_of(source))]


def _in_garbage(tensors: set[int], look: Look) -> set[int]:
    """Those that wait for the collector. What a tape keeps lies in lists that nothing refers to."""
    found, lists, owned = set[int](), dict[int, list[int]](), set[int]()
    for it in look.live.instances(object):
        if look.heap.is_reached(it):
            continue
        parts = [id(part) for part in gc.get_referents(it)]
        owned.update(parts)
        inside = [part for part in parts if part in tensors]
        if inside and type(it) in (list, tuple):
            lists[id(it)] = inside
        else:
            found.update(inside)
    return found.union(*(inside for key, inside in lists.items() if key in owned))


def buffers(tensor: Any) -> Iterator[tuple[int, int]]:
    """(address, bytes) of the memory of an eager tensor; nothing where it has no numbers in the
    process's own memory."""
    numbers = tensor.dtype.is_numpy_compatible and tensor.dtype.name != "string"
    if numbers and tensor.backing_device.endswith("CPU:0"):
        # Shows the tensor's own memory.
        shown = tensor._numpy_internal()
        yield shown.__array_interface__["data"][0], shown.nbytes
