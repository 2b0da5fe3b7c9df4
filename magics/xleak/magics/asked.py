"""Around every magic of xleak's."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from IPython.core.error import UsageError

from xleak import _native
from xleak.originals import getrecursionlimit


def asked(magic: Callable[..., None]) -> Callable[..., None]:
    """A decorator. No tracer of the user's sees the magic; one sentence says what a recursion limit of the
    user's kept it, or the looks before it, from."""

    @functools.wraps(magic)
    def answered(*arguments: Any) -> None:
        try:
            magic(*arguments)
        except RecursionError:
            raise UsageError(no_room("this magic")) from None
        if _native.was_cut_short():
            print(
                "xleak: the recursion limit cut a look at earlier cells short; what they leak may be missing.",
                file=sys.stderr,
            )

    return _native.out_of_sight(answered)


def no_room(asked_for: str) -> str:
    """Why what the user asked for is missing."""
    limit = getrecursionlimit()
    return f"the recursion limit, {limit}, leaves no room for {asked_for}; sys.setrecursionlimit() raises it."
