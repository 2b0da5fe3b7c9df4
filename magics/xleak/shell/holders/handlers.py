"""Logging handlers that each run of a cell adds once more."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from xleak import _native
from xleak.shell.fields import class_fields, fields_of
from xleak.shell.holders.counts import Counts, reruns
from xleak.shell.holders.look import Look


class AddedHandlers:
    """Handlers of one logger that several runs of one cell added, and that are still there."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """By logger."""
        for name, handlers in _loggers() if self._counts.repeats else ():
            born = [(it, self._counts.cell_of(it)) for it in handlers]
            added = reruns(born, look.sources)
            if added:
                label = f"logging.getLogger({name!r}).handlers"
                largest = _native.type_name(added.left[0])
                count, since = len(added.left), added.since_cell
                release = _removing(name, [id(it) for it in added.earlier])
                yield _native.Holder("handlers", label, 0, since, largest, count, release)


def _loggers() -> Iterator[tuple[str, list[object]]]:
    """(name, handlers) of every logger, read past what a class of the user's may answer."""
    manager = class_fields(logging.Logger).get("manager")
    for logger in [logging.root, *_native.values_of(fields_of(manager).get("loggerDict"))]:
        if not _native.is_kind_of(logger, logging.Logger):
            continue
        fields = fields_of(logger)
        name, handlers = fields.get("name"), fields.get("handlers")
        if type(name) is str and type(handlers) is list:
            yield name, _native.values_of(handlers)


def _removing(name: str, identities: list[int]) -> str:
    """Code that removes and closes just these, where they are still there."""
    chosen = ", ".join(map(str, identities))
    return (
        f'[(it.removeHandler(h), h.close()) for it in [__import__("logging").getLogger({name!r})] '
        f"for h in it.handlers[:] if id(h) in {{{chosen}}}];"
    )
