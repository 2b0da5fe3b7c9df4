"""Large values under names that no later cell uses, and objects there that hide the data they were made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xleak import _native
from xleak.originals import threading
from xleak.shell.births import cause_of
from xleak.shell.fields import ancestors_of, class_fields, is_instance
from xleak.shell.heap import user_names
from xleak.shell.holders.containers import is_users_class
from xleak.shell.holders.grown_objects import GrownObjects
from xleak.shell.holders.look import REPORTED_BYTES, SINGLE_BYTES, Look
from xleak.shell.holders.uses import Uses, first_name
from xleak.shell.waiting import frames_of_others

# They show results or a position, and keep the data that they were made from. So does whatever is its own iterator.
_KEEPING_THEIR_INPUT = [
    ("pandas.core.groupby.groupby", "BaseGroupBy"),
    ("pandas.core.window.rolling", "BaseWindow"),
    ("tqdm.std", "tqdm"),
]
_SCALARS: tuple[type, ...] = (int, float, bool, str, type(None))
_DEEPEST = 3
_MOST = 2000


class UnusedValues:
    """Those of a verdict: while cells come, the next may use them. They stay until one does."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses
        self._grown = GrownObjects(uses)
        self._found: set[str] = set()

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each name, and for names that keep something together."""
        self._grown.note(look)
        if not look.settled and not self._found:
            return
        shell = look.watcher.shell
        is_used = self._uses.in_use(look)
        reported = {first_name(label) for label in look.reported}
        known, self._found = self._found, set()
        small: list[str] = []
        for name in user_names(look.watcher):
            if is_used(name) or name in reported:
                continue
            kept = look.kept_with(name) if look.settled or name in known else 0
            if kept >= REPORTED_BYTES:
                yield self._grown(look, name, kept) or self._holder(look, [name], kept)
            elif look.settled or name in known:
                small.append(name)
        # The halves of a tee, two names of one object: each of them keeps nothing alone.
        shares = look.heap.shares(small, [], REPORTED_BYTES) if len(small) > 1 else []
        for first, kept_together, others in shares:
            names = [small[first], *(small[other] for other in others)]
            values = [_native.value_at(shell.user_ns, name) for name in names]
            # A model and its optimizer share memory too, and are what the notebook is about.
            if others and all(keeps_its_input(value) for value in values):
                yield self._holder(look, names, sum(kept_together.values()))

    def _holder(self, look: Look, names: list[str], kept: int) -> _native.Holder:
        self._found.update(names)
        shell = look.watcher.shell
        values = [_native.value_at(shell.user_ns, name) for name in names]
        labels = names if len(names) > 1 else look.labels_of(names[0])
        cause = cause_of(shell, look.heap.births_together(labels))
        kind = _kind(look, values, kept)
        release = f"del {', '.join(names)}" if len(names) > 1 else look.deleting(names[0])
        return _native.Holder(
            kind,
            " and ".join(names),
            kept,
            cause.cell if cause else None,
            _native.type_name(values[0]),
            len(names),
            # Only the end of the threads is sure to free what is theirs.
            "" if kind == "other threads" else release,
            line=cause.line if cause else None,
        )


def _kind(look: Look, values: Sequence[object], kept: int) -> str:
    if kept >= SINGLE_BYTES and all(keeps_its_input(value) for value in values):
        return "kept input"
    # A thread sees its own part of it alone.
    value = values[0]
    if (
        len(values) == 1
        and type(value) is threading.local
        and not _others_run_code(look.watcher.shell.user_ns)
    ):
        kept -= look.heap.retained_by(vars(value))
        return "other threads" if kept >= SINGLE_BYTES else "unused value"
    return "unused value"


def _others_run_code(namespace: dict[str, Any]) -> bool:
    """Whether another thread is in a function of the user's; one of a pool that has nothing to do is not."""
    return any(frame.f_globals is namespace for _, frame in frames_of_others())


def keeps_its_input(value: object, depth: int = 0) -> bool:
    """Whether it is an iterator, a bar or a grouping, which shows a position or a result, or a container of such."""
    if _native.is_exactly(value, (list, dict, tuple)):
        parts = [
            it for it in _native.values_of(value, 0, _MOST) if not _native.is_exactly(it, _SCALARS)
        ]
        return (
            bool(parts) and depth < _DEEPEST and all(keeps_its_input(it, depth + 1) for it in parts)
        )
    # The bytes of a stream are its own, and it reads them again.
    if is_users_class(type(value)) or is_instance(value, "_io", "_IOBase"):
        return False
    if any(is_instance(value, *known) for known in _KEEPING_THEIR_INPUT):
        return True
    return any("__next__" in class_fields(base) for base in ancestors_of(type(value)))
