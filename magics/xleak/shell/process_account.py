"""Where the memory of the process is: all that is resident, by who has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xleak import _native
from xleak.originals import os
from xleak.shell.births import Birth, is_import
from xleak.shell.caches import LAST_RESULT
from xleak.shell.descendants import descendants, proportional_bytes
from xleak.shell.heap import shown_labels, tool_slots, user_names
from xleak.shell.tracebacks import LAST_TRACEBACK
from xleak.shell.watcher import Watcher, printable
from xleak.verdict import Account, Alive, Owner

# More of one cell would hide the first ones.
_MOST_OWNERS = 8


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
) -> tuple[Account, dict[int, list[Alive]]] | None:
    """The account of these pages, and by cell what it made that is in memory now. What is in none of the other parts of
    the account is `unknown_bytes`."""
    pools = _native.python_pools()
    if pages is None or pools is None:
        return None
    names = user_names(watcher)
    tools = [label for *_, label in tool_slots(watcher)]
    shown = [*shown_labels(watcher), LAST_RESULT, LAST_TRACEBACK]
    found = heap.account([[label] for label in [*names, *tools, *shown]], pages)
    alive = _by_cell(found, names, len(names) + len(tools), shown)
    return _parts(found, pages, pools, len(names) + len(tools)), alive


def _parts(
    found: _native.HeapAccount,
    pages: _native.ProcessPages,
    pools: tuple[int, int],
    named: int,
) -> Account:
    """named: how many of the groups are names."""
    pool_used, arenas = pools
    owners = [*found.groups, found.rest]
    of_names, of_shown = _sum(found.groups[:named]), _sum(found.groups[named:])
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
        child_processes_bytes=sum(proportional_bytes(pid) for pid in descendants(os.getpid())),
    )


def _sum(owned: Iterable[_native.Owned]) -> int:
    return sum(it.pooled + it.small + it.large for it in owned)


def _of_cells(births: Iterable[Birth]) -> int:
    return sum(size for cell, place, size in births if cell and not is_import(place))


def _by_cell(
    found: _native.HeapAccount, names: Sequence[str], named: int, shown: Sequence[str]
) -> dict[int, list[Alive]]:
    """What of its blocks of 64 KiB and more is in memory, most bytes first."""
    cells: dict[int, dict[tuple[Owner, str | None], int]] = {}
    for owner, name, births in _owners(found, names, named, shown):
        for cell, place, size in births:
            of_import = owner in ("unnamed", "native") and is_import(place)
            key = ("imports", None) if of_import else (owner, name)
            sizes = cells.setdefault(cell, {})
            sizes[key] = sizes.get(key, 0) + size
    return {cell: _largest(sizes) for cell, sizes in cells.items() if cell}


def _largest(sizes: Mapping[tuple[Owner, str | None], int]) -> list[Alive]:
    """Most bytes first; small ones of one kind of owner together."""
    ordered = sorted(sizes.items(), key=lambda it: it[1], reverse=True)
    whole: dict[tuple[Owner, str | None], int] = dict(ordered[:_MOST_OWNERS])
    for (owner, _), size in ordered[_MOST_OWNERS:]:
        whole[owner, None] = whole.get((owner, None), 0) + size
    return [Alive(owner, name, size) for (owner, name), size in whole.items()]


def _owners(
    found: _native.HeapAccount, names: Sequence[str], named: int, shown: Sequence[str]
) -> Iterator[tuple[Owner, str | None, Sequence[Birth]]]:
    for name, births in zip(names, found.of_groups, strict=False):
        yield "names", printable(name), births
    for births in found.of_groups[len(names) : named]:
        yield "names", None, births
    for label, births in zip(shown, found.of_groups[named:], strict=True):
        yield "shown", label, births
    yield "unnamed", None, found.unnamed
    yield "native", None, found.unseen
