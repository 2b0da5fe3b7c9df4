"""Who keeps what grew: one look at the whole heap, and a mark of an earlier step to compare it with."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.render.units import counted, human_bytes
from xleak.shell.fields import loaded_class
from xleak.shell.heap import saved_memory
from xleak.shell.holders.containers import elements_of, has_graph
from xleak.shell.modules import is_module
from xleak.shell.tensor_fields import is_tensor
from xleak.watching import user_frames
from xleak.watching.leak import Cause
from xleak.watching.marks import (
    Mark,
    TensorFacts,
    collections,
    depths,
    length,
    named_tensors,
    tensor_facts,
)

# Told with one leak.
_MOST = 3
# Of what grew, a holder must have got at least so much to be told.
_SHARE = 0.1
# It must have got an element in at least one of so many steps.
_STEPS_PER_ELEMENT = 20
_GRAPHS_MS = 1000.0
# What the snapshot calls a holder that it does not know.
_OUTSIDE = "native code"
_HOOKS = re.compile(r"_\w*hooks\w*$")


@dataclass(frozen=True)
class _Grown:
    object: Any
    way: str
    owners: list[Any]
    more: int
    bytes: int | None
    of_graphs: bool


class Look:
    """One look, for the time that it takes. `mark`: of an earlier step; None where there is none."""

    def __init__(
        self,
        step: int,
        bytes: int,
        mark: Mark | None,
        namespaces: list[dict[str, Any]] | None = None,
    ) -> None:
        self._mark, self._bytes = mark, bytes
        self._steps = step - (mark.step if mark else 0)
        self._slots = user_frames.slots(namespaces)
        self._tensors = tensor_facts()
        saved, _ = saved_memory(_GRAPHS_MS)
        heap = _native.HeapSnapshot.take(
            self._slots, [("sys.modules", sys.modules)], saved, None, None
        )
        if heap is None:
            raise RuntimeError("the heap could not be read")
        self._heap = heap
        # It holds everything that lives: the heap was read without.
        self._live = _native.LiveObjects()

    def __enter__(self) -> Look:
        return self

    def __exit__(self, *error: object) -> None:
        self._live.__exit__(*error)

    def holders(self) -> list[Cause]:
        """Those who hold most of it first; empty where nobody was found."""
        found = [*self._graphs(), *self._containers()][:_MOST]
        return found or list(self._named())[:_MOST]

    def unheld(self) -> list[Cause]:
        """Tensors that came and that nobody was seen to hold."""
        return list(self._groups())[:_MOST]

    def garbage_bytes(self) -> int:
        """What waits for the collector in cycles that the user's objects or tensors close."""
        suspects = self._live_tensors()
        for names in {id(it[0]): it[0] for it in self._slots}.values():
            suspects += self._live.made_in(names)
        return sum(size for _, size in self._heap.garbage_cycles(suspects)) if suspects else 0

    # --- the kinds ---------------------------------------------------------------------------

    def _containers(self) -> list[Cause]:
        grown = sorted(self._grown(), key=lambda it: (it.of_graphs, it.bytes or 0), reverse=True)
        told: list[_Grown] = []
        for it in grown:
            if not any(self._heap.keeps(other.object, it.object) for other in told):
                told.append(it)
        return [self._container_cause(it) for it in told]

    def _grown(self) -> Iterator[_Grown]:
        before = self._mark.lengths if self._mark else {}
        near = {id(it): (way, owners) for it, way, _, owners in self._heap.containers(1, 500)}
        for it in collections(self._live):
            count = length(it)
            more = count - before.get(id(it), 0)
            if more < max(1, self._steps // _STEPS_PER_ELEMENT):
                continue
            size = self._bytes_of(it) * more // count
            # The nodes of graphs are native memory, which the heap does not show.
            of_graphs = self._keeps_graphs(it) and more >= self._steps // 2
            if size < _SHARE * self._bytes and not of_graphs:
                continue
            way, owners = near.get(id(it), ("", []))
            way = way or self._heap.way_to(it)
            if way and self._may_have_grown(way, more):
                known = None if of_graphs and size < _SHARE * self._bytes else size
                yield _Grown(it, way, owners, more, known, of_graphs)

    def _may_have_grown(self, way: str, more: int) -> bool:
        """Without a mark a container of the user's that has about an element for each step."""
        if way.startswith(_OUTSIDE):
            return False
        if self._mark is not None:
            return not way.startswith("sys.modules['xleak")
        return not way.startswith("sys.modules") and 0.5 <= more / max(1, self._steps) <= 2

    def _keeps_graphs(self, collection: Any) -> bool:
        last = _last_of(collection)
        return is_tensor(last) and has_graph(last)

    def _bytes_of(self, collection: Any) -> int:
        """What would go with it, or, where its tensors have other holders too, their memory."""
        elements = elements_of(collection)
        tensors = sum(it.bytes for e in elements if (it := self._tensors.get(id(e))))
        shown = max(1, min(len(elements), length(collection)))
        return max(self._heap.retained_by(collection), tensors * length(collection) // shown)

    def _container_cause(self, it: _Grown) -> Cause:
        last = _last_of(it.object)
        what = f"{counted(it.more, 'element')} more{self._rate(it.more)}: {self._described(last)}"
        kind, advice = _kind_and_advice(it, last, self._tensors.get(id(last)))
        return Cause(kind, it.way, what, it.more, it.bytes, advice)

    def _graphs(self) -> Iterator[Cause]:
        found = depths(self._live)
        tensor, depth = max(found, key=lambda it: it[1], default=(None, 0))
        more = depth - (self._mark.depth if self._mark else 0)
        if tensor is None or more < max(8, self._steps // 2):
            return
        way = self._heap.way_to(tensor)
        facts = self._tensors.get(id(tensor))
        scalar = facts is not None and all(size == 1 for size in facts.shape)
        advice = (
            "Add `loss.item()`, or `loss.detach()`: a sum of losses keeps the graph of each step."
            if scalar
            else "Carry `state.detach()` into the next step: this one's graph leads to all before it."
        )
        since = f"{more} deeper than at step {self._mark.step}" if self._mark else f"{depth} deep"
        what = f"its graph is {since}{self._rate(more, 'node')}; it keeps the steps before"
        yield Cause("graph", way, what, more, None, advice)

    def _named(self) -> Iterator[Cause]:
        if self._mark is None:
            return
        for label, size in named_tensors(self._slots, self._tensors).items():
            more = size - self._mark.named.get(label, size)
            if more >= _SHARE * self._bytes:
                advice = (
                    "Collect the parts in a list and join them once, or fill a tensor made before."
                )
                what = f"a tensor that grew to {human_bytes(size)}"
                yield Cause("tensor", label, what, 1, more, advice)

    def _groups(self) -> Iterator[Cause]:
        if self._mark is None:
            return
        for tensor in {
            (it.shape, it.dtype, it.device): it for it in self._tensors.values()
        }.values():
            group = (tensor.shape, tensor.dtype, tensor.device)
            now = sum((it.shape, it.dtype, it.device) == group for it in self._tensors.values())
            more = now - self._mark.groups[group]
            if more * tensor.bytes >= _SHARE * self._bytes and more >= 2:
                what = f"{counted(more, 'tensor')} more{self._rate(more)}: {tensor}"
                advice = "`%memreport NAME`, or `gc.get_referrers`, may tell who refers to them."
                yield Cause("tensors", "", what, more, more * tensor.bytes, advice)

    # --- in words ----------------------------------------------------------------------------

    def _rate(self, more: int, noun: str = "") -> str:
        if self._steps < 2:
            return ""
        rate = f"{more / self._steps:.1f}".removesuffix(".0")
        return f", {rate}{' ' if noun else ''}{noun} a step"

    def _described(self, element: object) -> str:
        if facts := self._tensors.get(id(element)):
            graph = ", with its graph" if has_graph(element) else ""
            return f"the last a tensor, {facts}{graph}"
        return f"the last of type {_native.type_name(element)}"

    def _live_tensors(self) -> list[Any]:
        base = loaded_class("torch._C", "TensorBase")
        return self._live.instances(base) if base is not None else []


def _last_of(collection: Any) -> Any:
    return next(reversed(elements_of(collection)), None)


def _kind_and_advice(it: _Grown, last: object, tensor: TensorFacts | None) -> tuple[str, str]:
    if _HOOKS.search(it.way):
        return (
            "hooks",
            "Register a hook once, or keep what registering returns and call `.remove()`.",
        )
    if is_module(last):
        hidden = "a plain list or dict hides them from `parameters()`: " if it.owners else ""
        return "hidden modules", f"Make layers once, in `__init__`; {hidden}use `nn.ModuleList`."
    kind = "dictionary" if _native.is_kind_of(it.object, dict) else "list"
    if is_tensor(last) and has_graph(last):
        scalar = tensor is not None and all(size == 1 for size in tensor.shape)
        return (
            kind,
            f"Keep `{'loss.item()' if scalar else 'output.detach()'}`: each keeps its step's graph.",
        )
    if kind == "dictionary":
        return kind, "Give the cache a limit: drop its oldest entry, or use `lru_cache(maxsize=…)`."
    if tensor is not None and all(size == 1 for size in tensor.shape):
        return kind, "Keep numbers: `loss.item()`."
    return kind, "Empty it, or give it a limit: `collections.deque(maxlen=…)`."


def find_causes(
    step: int, bytes: int, mark: Mark | None, namespaces: list[dict[str, Any]] | None = None
) -> list[Cause] | None:
    """Who keeps `bytes` that came since `mark`, or since step 0; None where it is garbage that the
    collector is about to take. namespaces: where names are looked for beside the running functions."""
    with Look(step, bytes, mark, namespaces) as look:
        if found := look.holders():
            return found
        waiting = look.garbage_bytes()
        if waiting < bytes // 2:
            return look.unheld()
    if gc.isenabled():
        return None
    advice = "The collector is off: call `gc.collect()` now and then, or `gc.enable()`."
    return [Cause("garbage", "", "cycles of objects that nobody can reach", 1, waiting, advice)]
