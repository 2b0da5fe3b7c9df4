"""What the frames of the last traceback keep."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xleak import _native
from xleak.shell.holders.debuggers import shells_debugger
from xleak.shell.holders.failed_retries import first_attempts
from xleak.shell.holders.look import LEAST_BYTES, Look
from xleak.shell.tracebacks import LAST_TRACEBACK

# Tracebacks and frames whose link has no name are told by their type.
_TO_LOCALS = re.compile(
    r"(?:\.__\w+__|\.tb_next|\.tb_frame|\.f_back| → traceback| → frame)+\.f_locals\['([^']*)'\]"
)


def last_traceback(look: Look) -> Iterator[_native.Holder]:
    """The traceback, where its frames alone keep much."""
    held = look.heap.retained_bytes(LAST_TRACEBACK)
    # The debugger hangs there too, and has a smell of its own.
    held -= look.heap.retained_by(shells_debugger(look))
    # So has what a second attempt had beside it.
    held -= sum(kept for _, kept in first_attempts(look))
    if held >= LEAST_BYTES:
        ways = [way for way, _ in look.heap.largest(LAST_TRACEBACK, 1)]
        largest = in_words(ways[0]) if ways else ""
        yield _native.Holder(
            "traceback",
            LAST_TRACEBACK,
            held,
            look.failed_cell,
            largest,
            1,
            "%release_cache --tracebacks",
        )


def in_words(way: str) -> str:
    """A way through frames as its user knows it: the local alone and what it leads to."""
    *_, last = _TO_LOCALS.split(way)
    found = list(_TO_LOCALS.finditer(way))
    return f"local {found[-1].group(1)}{last}" if found else way
