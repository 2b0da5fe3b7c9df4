"""Every place where IPython keeps what a cell showed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from xleak import _native

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

UNDERSCORES = ("_", "__", "___")
HIDDEN = "the shell's hidden namespace"
DISPLAY_HOOK = "the display hook"
LAST_RESULT = "the last execution result"
# What `_` and its like mean is a handful of these.
_MOST_RECENT = 64
_NUMBERED = re.compile(r"_([1-9]\d{0,7})")

# Whether a value is among those that are looked for. Values are never compared but by identity.
Wanted = Callable[[object], bool]


# (dictionary, key, value, n of the name `_n` or of `Out[n]`, the least n with that value) of a reference to what was
# shown. An n is 0 where there is none.
Cached = tuple[dict[Any, Any], Any, Any, int, int]


class OutputCaches:
    """The output caches of one shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self._used = False
        self._recent_numbers: dict[int, int] = {}
        """By the id of a value that `_` or another name without a number had: its n, by the last look, and of those
        that were shown since."""
        self._moved = (0, 0, 0)

    @property
    def unused(self) -> bool:
        """Whether no cell has shown a value yet."""
        self._used = self._used or bool(self.out)
        return not self._used

    @property
    def out(self) -> dict[int, Any]:
        """`Out`, which users know as `_oh` too; empty where the user took the name."""
        out = _native.value_at(self.shell.user_ns, "_oh")
        return out if type(out) is dict else {}

    def note_shown(self, number: int) -> None:
        """A cell has shown `Out[number]`. Its value may outlive that entry under `_`, which says no number."""
        value = self.out[number]
        if _native.is_small_scalar(value):
            return
        self._recent_numbers[id(value)] = number
        if len(self._recent_numbers) > _MOST_RECENT:
            self._without_number(self.cached())

    def entries(self) -> dict[int, Any]:
        """`Out` by number; a key of another type is the user's own."""
        return {n: value for n, value in _native.items_of(self.out) if type(n) is int}

    def barriers(self) -> list[object]:
        """What leads from anything to everything: the shell and its dictionaries."""
        shell = self.shell
        hook = shell.displayhook
        barriers: list[object] = [shell, vars(shell), shell.user_ns, shell.user_ns_hidden]
        return [*barriers, hook, vars(hook), self.out]

    def moved(self, tool_names: set[str], mentioned: set[int]) -> bool:
        """Whether a name or an entry has changed since the last call, and an entry may keep something.
        Walks nothing."""
        result = self.shell.last_execution_result
        now = _native.bindings_fingerprint(
            self.out,
            [self.shell.user_ns, self.shell.user_ns_hidden, vars(self.shell.displayhook)],
            vars(result).get("result") if result is not None else None,
        )
        before, self._moved = self._moved, (now, len(tool_names), len(mentioned))
        return before != self._moved and bool(self.unmentioned(mentioned))

    def user_names(self) -> list[str]:
        """The names of the user's namespace that are not the shell's doing."""
        return _native.user_names(**self._dictionaries())

    def cached_names(self) -> dict[str, Any]:
        """The names of the user's namespace that are, and what they stand for."""
        user_ns = self.shell.user_ns
        cached = self.cached(scalars=True)
        return {key: value for place, key, value, _, _ in cached if place is user_ns}

    def cached(self, *, scalars: bool = False) -> list[Cached]:
        """Every entry of the shell's dictionaries for what was shown; without `scalars` small text and
        numbers are left out, as below."""
        places = self._dictionaries()
        found = _native.cached_entries(**places, scalars=scalars)
        return [(places[place], *of_value) for place, *of_value in found]

    def values(
        self, cached: list[Cached] | None = None, *, scalars: bool = False
    ) -> dict[int, Any]:
        """What was shown, by the n of `Out[n]`, also where it lives on outside Out. cached: what cached() has just
        returned."""
        cached = self.cached(scalars=scalars) if cached is None else cached
        out = self.out
        found = {key: value for place, key, value, _, _ in cached if place is out}
        for place, _, value, number, _ in cached:
            if number and place is not out:
                found.setdefault(number, value)
        for number, value in self._without_number(cached):
            found.setdefault(number, value)
        return dict(sorted(found.items()))

    def unmentioned(self, mentioned: set[int]) -> list[tuple[int, Any]]:
        """(least n of `Out[n]`, value), by n, of what was shown and no cell mentions, small text and numbers left out.
        A look asks this again and again: no dictionary is made of thousands of entries."""
        cached, out, hidden = self.cached(), self.out, self.shell.user_ns_hidden
        used = {first for _, _, _, number, first in cached if number in mentioned}
        found = [
            (first, value)
            for place, _, value, number, first in cached
            if number
            and number == first
            and first not in used
            and (place is out or (place is hidden and number not in out))
        ]
        found += [it for it in self._without_number(cached) if it[0] not in mentioned]
        return sorted(found, key=itemgetter(0))

    def labelled(self) -> Iterator[tuple[dict[Any, Any], Any, str, Any]]:
        """(dictionary, key, label, value) of every reference to what was shown but small text and numbers: the label is
        that of the first `Out[n]` with the value, or the name."""
        cached = self.cached()
        lost = {id(value): number for number, value in self._without_number(cached)}
        for place, key, value, _, first in cached:
            number = first or lost.get(id(value)) or (key if place is self.out else None)
            yield place, key, str(key) if number is None else f"Out[{number}]", value

    def label_of_recent(self, value: object) -> str | None:
        """The label of what `_` or the last result has, as of the last look."""
        number = self._recent_numbers.get(id(value))
        return None if number is None else f"Out[{number}]"

    def _without_number(self, cached: list[Cached]) -> list[tuple[int, Any]]:
        """(n, value) of what had an `Out[n]` by the last call, and lives on without one."""
        recent = {id(value): value for value in self._recent(cached)}
        now = {
            id(value): first for _, _, value, _, first in cached if first and id(value) in recent
        }
        # An id may be of a new value since the one that was known is gone.
        known = {it: n for it, n in self._recent_numbers.items() if it in recent and it not in now}
        wanted = set(known.values())
        taken = {number for _, _, _, number, _ in cached if number in wanted}
        lost = {it: n for it, n in known.items() if n not in taken}
        self._recent_numbers = now | lost
        return [(number, recent[it]) for it, number in lost.items()]

    def _recent(self, cached: list[Cached]) -> list[Any]:
        out = self.out
        named = [value for place, _, value, number, _ in cached if not number and place is not out]
        return [*named, *(it for it in self._last_result() if not _native.is_small_scalar(it))]

    def labels(self, cached: list[Cached] | None = None) -> dict[int, str]:
        """The first `Out[n]` of each value that was shown, by the id of the value. cached: as above."""
        labels: dict[int, str] = {}
        for number, value in self.values(cached).items():
            labels.setdefault(id(value), f"Out[{number}]")
        return labels

    def slots(self, *, scalars: bool = True) -> Iterator[tuple[str, Any]]:
        """(label, value) of every reference that the caches have."""
        user_ns, hidden, out, _ = self._dictionaries().values()
        for place, key, value, _, _ in self.cached(scalars=scalars):
            if place is out:
                yield f"Out[{key}]", value
            elif place is user_ns:
                yield key, value
            else:
                yield HIDDEN if place is hidden else DISPLAY_HOOK, value
        for value in self._last_result():
            yield LAST_RESULT, value

    def _last_result(self) -> list[Any]:
        result = self.shell.last_execution_result
        return [] if result is None else [result.result]

    def _dictionaries(self) -> dict[str, dict[Any, Any]]:
        """The shell's dictionaries by the names that the native module has for them."""
        shell = self.shell
        return {
            "user_ns": shell.user_ns,
            "hidden": shell.user_ns_hidden,
            "out": self.out,
            "hook": vars(shell.displayhook),
        }

    @staticmethod
    def is_cache_key(name: object) -> bool:
        """Whether the hidden namespace keeps a shown value under that name."""
        return type(name) is str and (name in UNDERSCORES or bool(_NUMBERED.fullmatch(name)))

    def is_cached_name(self, name: str) -> bool:
        """Whether a name in the user's namespace is the shell's doing."""
        return name in self.cached_names()

    def value_of(self, number: int) -> Any:
        """The value of `Out[number]`, also where it lives on outside Out. Raises KeyError."""
        return self.values(scalars=True)[number]

    def recent(self) -> set[int]:
        """The ids of the values that `_`, `__` and `___` mean."""
        entries = _native.entries_of(self.shell.user_ns)
        return {id(entries[name]) for name in UNDERSCORES if name in entries}

    def drop(self, wanted: Wanted) -> None:
        """Removes every reference of the caches to a wanted value."""
        for place, key, value, number, _ in self.cached(scalars=True):
            if not wanted(value):
                continue
            if number or place is self.out:
                place.pop(key, None)
            else:
                # IPython goes on moving `_` only while all of these are the same object.
                place[key] = ""
        result = self.shell.last_execution_result
        if result is not None and wanted(result.result):
            result.result = None
