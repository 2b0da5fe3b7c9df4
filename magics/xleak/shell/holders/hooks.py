"""Hooks of modules that go on collecting, and those that each run of a cell adds."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of, loaded_class
from xleak.shell.holders.containers import is_users_function
from xleak.shell.holders.hook_code import grown_by, lists_of
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.origin import as_function, plain_function
from xleak.shell.holders.reruns import code_of
from xleak.shell.modules import entries_of, live_modules

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


@dataclass(frozen=True)
class _Hook:
    """A hook of the user's. Not to be kept. place: the expression of the dictionary that has it."""

    number: int
    place: str
    function: Any


class Hooks:
    """Hooks whose handles nobody has and that fill a list; hooks that a module has from several
    runs of one cell."""

    def __init__(self) -> None:
        self._cells: list[int] = []
        # By cell: how many hooks there had been after it.
        self._made: list[int] = [0]

    def after_cell(self, index: int) -> bool:
        """Whether the cell made a hook, by torch's own count."""
        handle = _handle_type()
        made = vars(handle).get("next_id", 0) if handle is not None else 0
        if made == self._made[-1]:
            return False
        self._cells.append(index)
        self._made.append(made)
        return True

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """Each hook is told once."""
        if not self._cells:
            return
        hooks = sorted(_hooks_of_the_user(look), key=lambda it: it.number)
        handles = _numbers_of_handles(look)
        filling = _by_container(look, [it for it in hooks if it.number not in handles])
        for clear, (way, kept, its) in filling.items():
            look.explained.add(way)
            since, release = self._cell_of(its[0]), _removing(its, clear)
            yield _native.Holder("hooks that fill", _told(its), kept, since, way, len(its), release)
        told = {it.number for _, _, its in filling.values() for it in its}
        yield from self._repeated(look, [it for it in hooks if it.number not in told])

    def _repeated(self, look: Look, hooks: list[_Hook]) -> Iterator[_native.Holder]:
        by_source: dict[tuple[str, str], list[_Hook]] = {}
        for hook in hooks:
            if code := code_of(look.sources.get(self._cell_of(hook), "")):
                by_source.setdefault((hook.place, code), []).append(hook)
        for (place, _), its in by_source.items():
            first = self._cell_of(its[0])
            more = [it for it in its if self._cell_of(it) != first]
            if more:
                kept = sum(look.heap.retained_by(it.function) for it in more)
                since, release = self._cell_of(more[0]), _removing(more)
                yield _native.Holder("repeated hooks", place, kept, since, "", len(its), release)

    def _cell_of(self, hook: _Hook) -> int:
        """The cell that made it; 0 for one that is older than xleak."""
        at = bisect.bisect_right(self._made, hook.number) - 1
        return self._cells[at] if 0 <= at < len(self._cells) else 0


def _handle_type() -> Any:
    return loaded_class("torch.utils.hooks", "RemovableHandle")


def _hooks_of_the_user(look: Look) -> Iterator[_Hook]:
    """Of modules that an expression leads to."""
    for module in live_modules(look.live):
        for name in _HOOKS:
            hooks = entries_of(module, name)
            own = [it for it in hooks.items() if type(it[0]) is int and _is_users(it[1], look)]
            way = look.heap.way_to(module) if own else ""
            if is_the_users(way):
                yield from (_Hook(number, f"{way}.{name}", it) for number, it in own)


def _is_users(function: object, look: Look) -> bool:
    return is_users_function(plain_function(as_function(function)), look)


def _numbers_of_handles(look: Look) -> set[object]:
    """Of the hooks that an expression of the user's can remove."""
    handles = look.live.instances(_handle_type())
    reached = [it for it in handles if is_the_users(_but_cached(look.heap.way_to(it)))]
    numbers = (fields_of(it).get("id") for it in reached)
    return {number for number in numbers if type(number) is int}


def _but_cached(way: str) -> str:
    """Nothing for an entry of the output cache, which no code of the user's uses."""
    return "" if way.startswith(("Out[", "_")) else way


def _by_container(look: Look, hooks: list[_Hook]) -> dict[str, tuple[str, int, list[_Hook]]]:
    """By the code that empties a container: the way to it, its bytes and the hooks that fill it."""
    found: dict[str, tuple[str, int, list[_Hook]]] = {}
    for hook in hooks:
        for container in grown_by(as_function(hook.function), look):
            kept = sum(look.heap.retained_by(it) for it in lists_of(container))
            way = look.heap.way_to(container) if kept >= REPORTED_BYTES else ""
            if is_the_users(way):
                is_list = type(container) is list
                clear = f"{way}.clear()" if is_list else f"[v.clear() for v in {way}.values()]"
                found.setdefault(clear, (way, kept, []))[2].append(hook)
    return found


def _removing(hooks: list[_Hook], clear: str = "") -> str:
    """Code that removes these hooks; what they hold is emptied first, while a way leads to it."""
    removals = [f"{it.place}.pop({it.number}, None)" for it in hooks]
    return "; ".join([*([clear] if clear else []), *removals]) + ";"


def _told(hooks: list[_Hook]) -> str:
    """Where they are."""
    places = list(dict.fromkeys(it.place for it in hooks))
    return places[0] if len(places) == 1 else f"{places[0]} and {len(places) - 1} more"
