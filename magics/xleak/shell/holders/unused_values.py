"""Large values under names that no later cell mentions, and objects there that hide the data they were made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xleak import _native
from xleak.originals import threading
from xleak.shell.births import cause_of
from xleak.shell.fields import ancestors_of, class_fields, is_instance
from xleak.shell.heap import user_names
from xleak.shell.holders.containers import is_users_class
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.uses import Uses, first_name
from xleak.shell.own_cells import is_own
from xleak.shell.waiting import frames_of_others

# A single object may be meant for a use that no cell shows yet.
_OF_ONE_OBJECT = 16 << 20
# They show results or a position, and keep the data that they were made from. So does whatever is its own iterator.
_KEEPING_THEIR_INPUT = [
    ("pandas.core.groupby.groupby", "BaseGroupBy"),
    ("pandas.core.window.rolling", "BaseWindow"),
    ("tqdm.std", "tqdm"),
]


class UnusedValues:
    """Those of a verdict: while cells come, the next may use them. They stay until one does."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses
        self._found: set[str] = set()

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each name, and for names that keep something together."""
        if not look.settled and not self._found:
            return
        self._uses.read(look)
        shell, last_read = look.watcher.shell, self._uses.last_read
        in_use = self._uses.of(look.running)
        reported = {first_name(label) for label in look.reported}
        known, self._found = self._found, set()
        small: list[str] = []
        # A cell of xleak's magics alone is no later cell.
        goes_on = look.running != look.sources.get(last_read) and not is_own(shell, look.running)
        for name in user_names(look.watcher):
            is_latest = self._uses.last(name) == last_read and not goes_on
            if is_latest or name in in_use or name in reported:
                continue
            kept = look.heap.retained_bytes(name) if look.settled or name in known else 0
            if kept >= REPORTED_BYTES:
                yield self._holder(look, [name], kept)
            elif look.settled or name in known:
                small.append(name)
        # The halves of a tee, two names of one object: each of them keeps nothing alone.
        shares = look.heap.shares(small, [], REPORTED_BYTES) if len(small) > 1 else []
        for first, kept_together, others in shares:
            names = [small[first], *(small[other] for other in others)]
            values = [_native.value_at(shell.user_ns, name) for name in names]
            # A model and its optimizer share memory too, and are what the notebook is about.
            if others and all(_keeps_its_input(value) for value in values):
                yield self._holder(look, names, sum(kept_together.values()))

    def _holder(self, look: Look, names: list[str], kept: int) -> _native.Holder:
        self._found.update(names)
        shell = look.watcher.shell
        values = [_native.value_at(shell.user_ns, name) for name in names]
        cause = cause_of(shell, look.heap.births_together(names))
        kind = _kind(look, values, kept)
        return _native.Holder(
            kind,
            " and ".join(names),
            kept,
            cause.cell if cause else None,
            _native.type_name(values[0]),
            len(names),
            # Only the end of the threads is sure to free what is theirs.
            "" if kind == "other threads" else f"del {', '.join(names)}",
            line=cause.line if cause else None,
        )


def _kind(look: Look, values: Sequence[object], kept: int) -> str:
    if kept >= _OF_ONE_OBJECT and all(_keeps_its_input(value) for value in values):
        return "kept input"
    # A thread sees its own part of it alone.
    value = values[0]
    if (
        len(values) == 1
        and type(value) is threading.local
        and not _others_run_code(look.watcher.shell.user_ns)
    ):
        kept -= look.heap.retained_by(vars(value))
        return "other threads" if kept >= _OF_ONE_OBJECT else "unused value"
    return "unused value"


def _others_run_code(namespace: dict[str, Any]) -> bool:
    """Whether another thread is in a function of the user's; one of a pool that has nothing to do is not."""
    return any(frame.f_globals is namespace for _, frame in frames_of_others())


def _keeps_its_input(value: object) -> bool:
    # The bytes of a stream are its own, and it reads them again.
    if is_users_class(type(value)) or is_instance(value, "_io", "_IOBase"):
        return False
    if any(is_instance(value, *known) for known in _KEEPING_THEIR_INPUT):
        return True
    return any("__next__" in class_fields(base) for base in ancestors_of(type(value)))
