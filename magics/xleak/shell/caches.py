"""Every place where IPython keeps what a cell showed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from xleak import _native

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

UNDERSCORES = ("_", "__", "___")
HIDDEN = "the shell's hidden namespace"
DISPLAY_HOOK = "the display hook"
LAST_RESULT = "the last execution result"
_NUMBERED = re.compile(r"_([1-9]\d{0,7})")

# Whether a value is among those that are looked for. Values are never compared but by identity.
Wanted = Callable[[object], bool]


# (dictionary, key, value, n of the name `_n` or of `Out[n]`; 0 where there is none) of a reference to what was shown.
Cached = tuple[dict[Any, Any], Any, Any, int]


class OutputCaches:
    """The output caches of one shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self._used = False
        self._known: dict[int, int] = {}
        """By n of `Out[n]` the id of its value, alive or not."""
        self._moved = (0, 0, 0)

    @property
    def unused(self) -> bool:
        """Whether no cell has shown a value yet."""
        self._used = self._used or bool(self.out)
        return not self._used

    @property
    def out(self) -> dict[int, Any]:
        """`Out`, which users know as `_oh` too; empty where the user took the name."""
        out = self.shell.user_ns.get("_oh")
        return out if type(out) is dict else {}

    def entries(self) -> dict[int, Any]:
        """`Out` by number; a key of another type is the user's own."""
        return {n: value for n, value in self.out.items() if type(n) is int}

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
        return before != self._moved and any(n not in mentioned for n in self.values())

    def user_names(self) -> list[str]:
        """The names of the user's namespace that are not the shell's doing."""
        return _native.user_names(**self._dictionaries())

    def cached(self, *, scalars: bool = False) -> list[Cached]:
        """Every entry of the shell's dictionaries for what was shown; without `scalars` small text and
        numbers are left out, as below."""
        places = self._dictionaries()
        found = _native.cached_entries(**places, scalars=scalars)
        return [(places[place], key, value, number) for place, key, value, number in found]

    def values(
        self, cached: list[Cached] | None = None, *, scalars: bool = False
    ) -> dict[int, Any]:
        """What was shown, by the n of `Out[n]`, also where it lives on outside Out. cached: what cached() has just
        returned."""
        cached = self.cached(scalars=scalars) if cached is None else cached
        out = self.out
        found = {key: value for place, key, value, _ in cached if place is out}
        for place, _, value, number in cached:
            if number and place is not out:
                found.setdefault(number, value)
        # An id may be of a new value since the one that was known is gone.
        if lost := self._known.keys() - found:
            numbered = {id(value) for value in found.values()}
            elsewhere = [value for place, _, value, n in cached if not n and place is not out]
            alive = {id(it): it for it in [*elsewhere, *self._last_result()]}
            for number in lost:
                if (known := self._known[number]) in alive and known not in numbered:
                    found[number] = alive[known]
        if not scalars:
            self._known = {number: id(value) for number, value in found.items()}
        return dict(sorted(found.items()))

    def labels(self, cached: list[Cached] | None = None) -> dict[int, str]:
        """The first `Out[n]` of each value that was shown, by the id of the value. cached: as above."""
        labels: dict[int, str] = {}
        for number, value in self.values(cached).items():
            labels.setdefault(id(value), f"Out[{number}]")
        return labels

    def slots(self, *, scalars: bool = True) -> Iterator[tuple[str, Any]]:
        """(label, value) of every reference that the caches have."""
        user_ns, hidden, out, _ = self._dictionaries().values()
        for place, key, value, _ in self.cached(scalars=scalars):
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
        user_ns, hidden = self.shell.user_ns, self.shell.user_ns_hidden
        if name not in user_ns:
            return False
        value = user_ns[name]
        if name in UNDERSCORES:
            shown = vars(self.shell.displayhook).get(name)
            return value is shown or (name in hidden and hidden[name] is value)
        match = _NUMBERED.fullmatch(name)
        if match is None:
            return False
        number = int(match.group(1))
        in_out = number in self.out and self.out[number] is value
        return in_out or (name in hidden and hidden[name] is value)

    def value_of(self, number: int) -> Any:
        """The value of `Out[number]`, also where it lives on outside Out. Raises KeyError."""
        return self.values(scalars=True)[number]

    def is_recent(self, number: int) -> bool:
        """Whether `_`, `__` or `___` still means the value of `Out[number]`. Raises KeyError."""
        value, user_ns = self.value_of(number), self.shell.user_ns
        return any(name in user_ns and user_ns[name] is value for name in UNDERSCORES)

    def drop(self, wanted: Wanted) -> None:
        """Removes every reference of the caches to a wanted value."""
        for place, key, value, number in self.cached(scalars=True):
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
