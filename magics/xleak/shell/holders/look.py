"""What a search through the heap hands to those who tell holders from it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell.births import Birth
from xleak.shell.heap import shown_values
from xleak.shell.tensor_fields import tensor_class

if TYPE_CHECKING:
    from xleak.shell.watcher import Watcher

# Less never becomes a finding.
LEAST_BYTES = 64 << 10
# Where to know more takes another search, it is left where no finding can come of it.
REPORTED_BYTES = 1 << 20
# A single object that keeps less may be in use, by whoever keeps it or by a cell to come.
SINGLE_BYTES = 16 << 20

# An expression of the user's, which a repair may be made of.
_EXPRESSION = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*|\[\d+\]|\['[^'\\]*'\])*")
_IN_LIBRARY = re.compile(r"sys\.modules\b")


@dataclass(frozen=True)
class Look:
    """One search: the heap after a cell, and what is known of the session."""

    heap: _native.HeapSnapshot
    live: _native.LiveObjects
    watcher: Watcher
    cell: int
    """Index of the cell that ended last."""
    failed_cell: int | None
    """Index of the last cell that raised."""
    sources: dict[int, str]
    """What the user ran, by index of the cell, oldest first."""
    running: str
    """The source of the cell that runs or ran last."""
    search_again: Callable[[], None]
    """Has the next cell searched too: what was found must outlive it to be a leak."""
    explained: set[str] = field(default_factory=set)
    """Expressions of containers that a reporter gave the cause of: those after it leave them."""
    reported: dict[str, _native.Holder] = field(default_factory=dict)
    """What the reporters before have found, by label."""

    @property
    def settled(self) -> bool:
        """Whether somebody asks for a verdict: `cell` is a quiet one that would come next."""
        return self.cell > self.watcher.last_cell

    def labels_of(self, name: str) -> list[str]:
        """A name, and what the output caches have of its value."""
        value = _native.value_at(self.watcher.shell.user_ns, name)
        return [name, *self._shown.get(id(value), ())]

    def kept_with(self, name: str) -> int:
        """What would be freed with a name and what the output caches have of its value."""
        kept = self.heap.retained_bytes(name)
        value = _native.value_at(self.watcher.shell.user_ns, name)
        if kept or self.heap.retained_by(value) < LEAST_BYTES:
            return kept
        labels = self.labels_of(name)
        return sum(self.heap.freed_by(labels).values()) if len(labels) > 1 else 0

    def births_with(self, name: str) -> list[Birth]:
        """Where that was made which would be freed with a name and what the output caches have of its value."""
        return self.heap.births_together(self.labels_of(name))

    def deleting(self, name: str) -> str:
        """Code that lets go of it: a value that was shown, `Out` has too."""
        return f"%xdel {name}" if len(self.labels_of(name)) > 1 else f"del {name}"

    @functools.cached_property
    def _shown(self) -> dict[int, list[str]]:
        """By the id of a value its labels in the caches."""
        found: dict[int, dict[str, None]] = {}
        for label, value in shown_values(self.watcher):
            found.setdefault(id(value), {})[label] = None
        return {known: list(labels) for known, labels in found.items()}


# Tells the holders of one kind. Functions; objects where they compare with the look before.
Reporter = Callable[[Look], Iterable[_native.Holder]]


def may_be_released(way: str) -> bool:
    """Whether a repair may be made of a way: the user's, and not through a namespace or what else
    Python itself keeps by a name with underscores."""
    return is_the_users(way) and "__" not in way


def is_the_users(way: str) -> bool:
    """Whether a way is an expression that starts at a name of the user's; a library's starts at
    sys.modules."""
    return bool(_EXPRESSION.fullmatch(way)) and not _IN_LIBRARY.match(way)


def tensors_by_id(look: Look) -> dict[int, Any]:
    """The live tensors; none where torch is not imported."""
    base = tensor_class()
    tensors = look.live.instances(base) if base is not None else []
    return {id(tensor): tensor for tensor in tensors}
