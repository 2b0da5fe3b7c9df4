"""An output entry that was taken out of the shell's caches and can be put back."""

from __future__ import annotations

from typing import Any

from xleak import _native
from xleak.shell.caches import OutputCaches

# In place of what a thread of the user's has taken away meanwhile.
_GONE: Any = object()


class TakenOut:
    """The one reference to a value that the caches had, and where they had it."""

    def __init__(self, caches: OutputCaches, number: int) -> None:
        """Takes out Out[number] and what else the caches have of its value. Raises KeyError."""
        value = caches.value_of(number)
        self._caches = caches
        self._value: Any = value
        self.numbers = [n for n, shown in caches.entries().items() if shown is value]
        self._names = [n for n, shown in caches.cached_names().items() if shown is value]
        hidden = _native.items_of(caches.shell.user_ns_hidden)
        self._hidden = [n for n, shown in hidden if shown is value and caches.is_cache_key(n)]
        caches.drop(lambda shown: shown is value)

    def put_back(self) -> None:
        """Raises ValueError with one sentence where something else has its place by now."""
        out, shell = self._caches.out, self._caches.shell
        if taken := [f"Out[{number}]" for number in self.numbers if number in out]:
            raise ValueError(f"{taken[0]} is something else by now")
        if taken := [name for name in self._names if name in shell.user_ns]:
            raise ValueError(f"{taken[0]} is something else by now")
        for number in self.numbers:
            _insert(out, number, self._value)
        shell.user_ns.update(dict.fromkeys(self._names, self._value))
        shell.user_ns_hidden.update(dict.fromkeys(self._hidden, self._value))


def _insert(out: dict[int, Any], number: int, value: Any) -> None:
    """In the order of the numbers, which IPython keeps. Others move one by one: none is ever missing
    for longer than its own move."""
    later = [n for n, _ in _native.items_of(out) if type(n) is int and n > number]
    out[number] = value
    for other in later:
        if (moved := out.pop(other, _GONE)) is not _GONE:
            out[other] = moved
