"""What malloc keeps of memory whose objects died."""

from __future__ import annotations

from collections.abc import Iterator

from xleak import _native
from xleak.shell.holders.look import Look
from xleak.shell.holders.reruns import ran_before

THE_HEAP = "the C heap"
# Less is what any cell may want again in a moment.
_MANY_BYTES = 256 << 20


class FreeHeap:
    """Free memory of the C heap, once a cell has ended that did not ask for it again. Where cells
    are run again it waits for them."""

    def __init__(self) -> None:
        self._since: int | None = None

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder at most."""
        free = _releasable(look.cell)
        if free < _MANY_BYTES or ran_before(look.cell, look.sources):
            self._since = None
        elif self._since is None:
            self._since = look.cell
            look.search_again()
        elif self._since == look.cell:
            look.search_again()
        else:
            yield _native.Holder(
                "free heap", THE_HEAP, free, self._since, "free blocks", 1, "%release_cache --heap"
            )


def _releasable(cell: int) -> int:
    record = _native.record(cell)
    free = None if record is None else record.heap_free_bytes
    if free is not None and free < _MANY_BYTES:
        return 0
    return _native.releasable_heap_bytes() or 0
