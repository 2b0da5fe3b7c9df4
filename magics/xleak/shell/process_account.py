"""Where the memory of the process is: all that is resident, by who has it."""

from __future__ import annotations

from collections.abc import Iterable

from xleak import _native
from xleak.shell.births import Birth, is_import
from xleak.shell.caches import LAST_RESULT
from xleak.shell.heap import shown_labels, tool_slots, user_names
from xleak.shell.tracebacks import LAST_TRACEBACK
from xleak.shell.watcher import Watcher
from xleak.verdict import Account


def resident_pages() -> _native.ProcessPages | None:
    """What an account is made from, read before the heap is, which takes memory of its own. None where the ledger of
    large blocks is off, or the system does not say."""
    if not _native.ledger_state().installed:
        return None
    try:
        return _native.process_pages()
    except _native.MonitorError:
        return None


def account_of(
    watcher: Watcher, heap: _native.HeapSnapshot, pages: _native.ProcessPages | None
) -> Account | None:
    """The account of these pages. What is in none of its other parts is `unknown_bytes`."""
    pools = _native.python_pools()
    if pages is None or pools is None:
        return None
    pool_used, arenas = pools
    names = [*user_names(watcher), *(label for *_, label in tool_slots(watcher))]
    shown = [*shown_labels(watcher), LAST_RESULT, LAST_TRACEBACK]
    found = heap.account([names, shown], pages)
    owners = [*found.groups, found.rest]
    of_names, of_shown = (it.pooled + it.small + it.large for it in found.groups)
    unnamed, native = _of_cells(found.unnamed), _of_cells(found.unseen)
    of_no_cell = sum(size for *_, size in [*found.unnamed, *found.unseen]) - unnamed - native
    small_in_pools = max(0, pool_used - sum(it.pooled for it in owners))
    imports = pages.files + found.rest.pooled + found.rest.small + small_in_pools + of_no_cell
    small = max(0, pages.small_heap - sum(it.small for it in owners))
    free = pages.free_heap + found.pools + max(0, arenas - pool_used)
    resident = pages.files + pages.shared + pages.others
    left = resident - of_names - of_shown - unnamed - native - imports - small - free - pages.shared
    return Account(
        resident_bytes=resident,
        names_bytes=of_names,
        shown_bytes=of_shown,
        unnamed_bytes=unnamed,
        native_bytes=native,
        # Objects say how large they are, not how much of them is in memory.
        imports_bytes=imports + min(0, left),
        small_bytes=small,
        free_bytes=free,
        shared_bytes=pages.shared,
        unknown_bytes=max(0, left),
    )


def _of_cells(births: Iterable[Birth]) -> int:
    return sum(size for cell, place, size in births if cell and not is_import(place))
