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
_SCALARS = (str, int, float, bool, complex, type(None))
# Smaller text and numbers are shared across the interpreter: other references to them mean nothing.
_LARGE_SCALAR_BYTES = 64 << 10

# Whether a value is among those that are looked for. Values are never compared but by identity.
Wanted = Callable[[object], bool]


def is_scalar(value: object) -> bool:
    """Whether a value is text or a number, and small."""
    return type(value) in _SCALARS and value.__sizeof__() < _LARGE_SCALAR_BYTES


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
        return before != self._moved and any(
            number not in mentioned and not is_scalar(value)
            for number, value in self.values().items()
        )

    def values(self) -> dict[int, Any]:
        """What was shown, by the n of `Out[n]`, also where it lives on outside Out."""
        found = self.entries()
        for name, value in list(self.shell.user_ns_hidden.items()):
            if type(name) is str and (match := _NUMBERED.fullmatch(name)):
                found.setdefault(int(match.group(1)), value)
        # An id may be of a new value since the one that was known is gone.
        numbered = {id(value) for value in found.values()}
        alive = {id(it): it for _, it in self.slots() if id(it) not in numbered}
        for number, known in self._known.items():
            if known in alive:
                found.setdefault(number, alive[known])
        self._known = {number: id(value) for number, value in found.items()}
        return dict(sorted(found.items()))

    def labels(self) -> dict[int, str]:
        """The first `Out[n]` of each value that was shown, by the id of the value."""
        labels: dict[int, str] = {}
        for number, value in self.values().items():
            labels.setdefault(id(value), f"Out[{number}]")
        return labels

    def slots(self) -> Iterator[tuple[str, Any]]:
        """(label, value) of every reference that the caches have."""
        hidden, user_ns = self.shell.user_ns_hidden, self.shell.user_ns
        for number, value in self.entries().items():
            yield f"Out[{number}]", value
        for name, value in list(hidden.items()):
            if _NUMBERED.fullmatch(name):
                yield HIDDEN, value
                if name in user_ns and user_ns[name] is value:
                    yield name, value
        hook = vars(self.shell.displayhook)
        for name in UNDERSCORES:
            if name in hook:
                yield DISPLAY_HOOK, hook[name]
            if name in hidden:
                yield HIDDEN, hidden[name]
            if self.is_cached_name(name):
                yield name, user_ns[name]
        result = self.shell.last_execution_result
        if result is not None:
            yield LAST_RESULT, result.result

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
        return self.values()[number]

    def is_recent(self, number: int) -> bool:
        """Whether `_`, `__` or `___` still means the value of `Out[number]`. Raises KeyError."""
        value, user_ns = self.value_of(number), self.shell.user_ns
        return any(name in user_ns and user_ns[name] is value for name in UNDERSCORES)

    def drop(self, wanted: Wanted) -> None:
        """Removes every reference of the caches to a wanted value."""
        hidden, user_ns = self.shell.user_ns_hidden, self.shell.user_ns
        hook = vars(self.shell.displayhook)
        cached = [name for name in user_ns if type(name) is str and self.is_cached_name(name)]
        names = [name for name in cached if wanted(user_ns[name])]
        for name in [name for name in names if name not in UNDERSCORES]:
            del user_ns[name]
        for name in [n for n, value in hidden.items() if _NUMBERED.fullmatch(n) and wanted(value)]:
            del hidden[name]
        for number in [number for number, value in self.out.items() if wanted(value)]:
            del self.out[number]
        for name in UNDERSCORES:
            # IPython goes on moving `_` only while all of these are the same object.
            places = [place for place in (hook, hidden) if name in place and wanted(place[name])]
            if name in names:
                places.append(user_ns)
            for place in places:
                place[name] = ""
        result = self.shell.last_execution_result
        if result is not None and wanted(result.result):
            result.result = None
