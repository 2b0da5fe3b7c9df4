"""Which cell made and showed each open widget, and which leave ever more of them open."""

from __future__ import annotations

from xleak import _native
from xleak.shell.holders.growth_history import RISES
from xleak.shell.holders.reruns import identity_of
from xleak.shell.widgets import open_widgets, shown_is_known, take_sent


class WidgetHistory:
    """Numbers that are read around each cell. Holds model ids, and of cells their ids or code."""

    def __init__(self) -> None:
        self._last: tuple[int, object] = (0, None)
        self._count_before = 0
        self._made_by: dict[str, int] = {}
        """By model id the index of the cell; 0: nobody knows."""
        self._shown_by: dict[str, set[int]] = {}
        """The same of those that showed it; 0: between two."""
        self._cells: dict[int, str] = {}
        """By index what the runs of one cell have in common."""
        self._runs: dict[str, list[int]] = {}
        self._rises: dict[str, int] = {}
        """How many runs one after another left more widgets open than there were."""

    def before_cell(self) -> None:
        """Notes what callbacks made and showed since the last cell."""
        self._note(0)
        self._count_before = self._last[0]

    def after_cell(self, index: int, source: str) -> bool:
        """Notes what the cell made and showed; whether it is a reason to search."""
        self._note(index)
        count = self._last[0]
        if not (count or self._count_before):
            return False
        cell = identity_of(index, source)
        self._cells[index] = cell
        self._runs.setdefault(cell, []).append(index)
        self._rises[cell] = self._rises.get(cell, 0) + 1 if count > self._count_before else 0
        return self.has_risen(cell)

    def has_risen(self, cell: str) -> bool:
        """Whether each of its latest runs left more widgets open."""
        return self._rises[cell] >= RISES

    def made_by(self, model_id: str) -> int:
        """The index of the run that made a widget; 0: nobody knows."""
        return self._made_by.get(model_id, 0)

    def cell_of(self, model_id: str) -> str:
        """The cell that made a widget, as the rest of this knows it."""
        return self._cells[self._made_by[model_id]]

    def first_run(self, cell: str) -> int:
        """The index of the first run of a cell."""
        return self._runs[cell][0]

    def latest_runs(self, cell: str) -> list[int]:
        """The indices of the runs that a rise takes."""
        return self._runs[cell][-RISES:]

    def was_shown(self, model_id: str) -> bool:
        """Whether the widget itself was sent to be shown."""
        return model_id in self._shown_by

    def is_gone(self, model_id: str) -> bool:
        """Whether no output has a widget any more, those left aside that have another with it in."""
        made = self.made_by(model_id)
        if made not in self._cells:
            return False
        if not all(self._is_replaced(index) for index in self._shown_by.get(model_id, ())):
            return False
        return shown_is_known() or self._is_replaced(made)

    def _is_replaced(self, index: int) -> bool:
        """Whether the cell ran again, which replaced its output."""
        return index in self._cells and self._runs[self._cells[index]][-1] > index

    def _note(self, index: int) -> None:
        for model_id in take_sent():
            self._shown_by.setdefault(model_id, set()).add(index)
        now, before = _reading(), self._last
        if now != before:
            self._last = now
            registry = _native.names_in(open_widgets())
            self._made_by = {key: self._made_by.get(key, index) for key in registry}
            shown = self._shown_by
            self._shown_by = {key: shown[key] for key in registry if key in shown}


def _reading() -> tuple[int, object]:
    """The same as before: no widget is new."""
    registry = open_widgets()
    last = _native.items_of(registry, -1)
    return len(registry), last[0][0] if last else None
