"""Open widgets that no output shows any more, and that a container of the user's collects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.holders.containers import elements_of, is_collection
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.places import parent_of, value_at
from xleak.shell.holders.stray_widgets import OutOfSight
from xleak.shell.holders.widget_history import WidgetHistory
from xleak.shell.widgets import OPEN_WIDGETS


class CollectedWidgets:
    """Those to which each of the three latest runs of a cell added, by container."""

    def __init__(self, history: WidgetHistory) -> None:
        self._history = history

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each cell, since one container takes what it makes."""
        hidden = OutOfSight(look, self._history)
        if not any(self._history.has_risen(cell) for cell in hidden.cells()):
            return
        for cell, members in hidden.by_cell(hidden.unused()).items():
            if self._history.has_risen(cell):
                yield from self._holder(look, hidden, cell, members)

    def _holder(
        self, look: Look, hidden: OutOfSight, cell: str, members: list[Any]
    ) -> Iterator[_native.Holder]:
        largest = max(members, key=look.heap.retained_by)
        ways = look.heap.ways_besides(largest, [OPEN_WIDGETS, *hidden.outputs_of(members)], 1)
        way = parent_of(ways[0]) if ways else ""
        container = value_at(look.watcher.shell.user_ns, way) if is_the_users(way) else None
        if not is_collection(container) or container is look.watcher.caches.out:
            return
        # It has more than widgets, which others tell of.
        if look.heap.retained_by(container) >= REPORTED_BYTES:
            return
        elements = [it for it in elements_of(container) if hidden.model_id(it)]
        runs = {self._history.made_by(hidden.model_id(it)) for it in elements}
        if not runs.issuperset(self._history.latest_runs(cell)):
            return
        held = look.heap.freed_without(look.heap.led_to(elements, members))
        if held >= REPORTED_BYTES:
            name, since = _native.type_name(largest), min(filter(None, runs))
            yield _native.Holder("collected widgets", way, held, since, name, len(elements), "")
