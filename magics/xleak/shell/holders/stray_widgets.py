"""Widgets that nobody can see or name any more, and that ipywidgets' registry keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of, instances, loaded_class
from xleak.shell.holders.growth_history import RISES
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.widget_history import WidgetHistory
from xleak.shell.widgets import OPEN_WIDGETS, model_in, open_widgets, registry_expression


class OutOfSight:
    """The open widgets, for the time of a look, and those that no output shows any more."""

    def __init__(self, look: Look, history: WidgetHistory) -> None:
        registry = list(_native.entries_of(open_widgets()).items())
        self._look = look
        self._history = history
        self._ids: dict[int, str] = {id(it): key for key, it in registry}
        self._widgets = [it for _, it in registry]
        self._gone = [it for key, it in registry if history.is_gone(key)]

    def model_id(self, widget: object) -> str:
        """The model id of an open widget; empty for anything else."""
        return self._ids.get(id(widget), "")

    def cells(self) -> set[str]:
        """The cells that made those out of sight."""
        return {self._history.cell_of(self.model_id(it)) for it in self._gone}

    def by_cell(self, widgets: list[Any]) -> dict[str, list[Any]]:
        """Those out of sight by the cell that made them."""
        groups: dict[str, list[Any]] = {}
        for it in widgets:
            groups.setdefault(self._history.cell_of(self.model_id(it)), []).append(it)
        return groups

    def unused(self) -> list[Any]:
        """Those that no widget in use leads to, whether a name does or not."""
        return self._unused_of(self._gone)

    def strays(self) -> list[Any]:
        """Those that no name leads to either."""
        labels = [OPEN_WIDGETS, *self.outputs_of(self._gone)]
        unnamed = self._look.heap.kept_by(labels, self._gone) if self._gone else []
        strays = self._unused_of(unnamed)
        # A link between two widgets acts without being seen; no widget leads to it.
        visible = loaded_class("ipywidgets.widgets.domwidget", "DOMWidget") or object
        seen = [it for it in strays if _native.is_kind_of(it, visible)]
        return self._look.heap.led_to(seen, strays) if seen else []

    def outputs_of(self, widgets: list[Any]) -> list[str]:
        """The entries of the output cache that have them, but those that the user mentioned."""
        watcher = self._look.watcher
        out, wanted = watcher.caches.entries(), _identities(widgets)
        used = {id(out[number]) for number in watcher.mentioned if number in out}
        return [
            f"Out[{number}]"
            for number, value in out.items()
            if id(value) in wanted and id(value) not in used
        ]

    def _unused_of(self, gone: list[Any]) -> list[Any]:
        if not gone:
            return []
        live = _without(self._widgets, gone)
        inside = {*_models_inside(live), *_models_captured(self._look)}
        live += [it for it in gone if self.model_id(it) in inside]
        return _without(gone, self._look.heap.led_to(live, gone))


class StrayWidgets:
    """Those of a cell that left more of them open with each of three runs, or that made several
    of one type and showed none."""

    def __init__(self) -> None:
        self.history = WidgetHistory()

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """By the cell that made them."""
        hidden = OutOfSight(look, self.history)
        strays = hidden.strays()
        shown = [it for it in strays if self.history.was_shown(hidden.model_id(it))]
        were_shown = look.heap.led_to(shown, strays) if shown else []
        for cell, members in hidden.by_cell(strays).items():
            if not self.history.has_risen(cell):
                members = _without(members, were_shown)
                members = members if self._are_many(members, hidden) else []
            held = look.heap.freed_without(members) if members else 0
            if held >= REPORTED_BYTES:
                yield self._holder(look, hidden, cell, members, held)

    def _are_many(self, widgets: list[Any], hidden: OutOfSight) -> bool:
        """Whether one run made several of one type."""
        runs = [self.history.made_by(hidden.model_id(it)) for it in widgets]
        made = Counter((run, id(type(it))) for run, it in zip(runs, widgets, strict=True))
        return any(count >= RISES for count in made.values())

    def _holder(
        self, look: Look, hidden: OutOfSight, cell: str, strays: list[Any], held: int
    ) -> _native.Holder:
        first = self.history.first_run(cell)
        record = _native.record(first)
        label = f"{OPEN_WIDGETS} of In[{(record and record.execution_count) or first}]"
        model_ids = {hidden.model_id(it) for it in strays}
        since = min(self.history.made_by(key) for key in model_ids)
        largest = _native.type_name(max(strays, key=look.heap.retained_by))
        release = _forgetting(hidden.outputs_of(strays)) + _closing(model_ids)
        return _native.Holder("widgets", label, held, since, largest, len(strays), release)


def _models_inside(widgets: Iterable[Any]) -> Iterator[str]:
    """The model ids of widgets that are shown in what output widgets captured."""
    base = loaded_class("ipywidgets.widgets.widget_output", "Output")
    for it in widgets:
        if base is not None and _native.is_kind_of(it, base):
            values = fields_of(it).get("_trait_values")
            outputs = _native.value_at(values, "outputs")
            yield from map(model_in, _native.values_of(outputs))


def _models_captured(look: Look) -> Iterator[str]:
    """The model ids of widgets in what `%%capture` took, which may be shown later."""
    for _, fields in instances(look.live, "IPython.utils.capture", "CapturedIO"):
        outputs = fields.get("_outputs")
        yield from map(model_in, _native.values_of(outputs))


def _forgetting(entries: list[str]) -> str:
    """Code on one line for %xdel of entries of the output cache."""
    chosen = ", ".join(f'"{entry}"' for entry in entries)
    code = f'[get_ipython().run_line_magic("xdel", it) for it in [{chosen}]]; '
    return code if entries else ""


def _closing(model_ids: set[str]) -> str:
    """Code that closes just these, where they are still open. They are told by the first and the
    last of each row, since the registry has them in the order in which they were made."""
    rows: list[list[str]] = [[]]
    for key in _native.names_in(open_widgets()):
        if key in model_ids:
            rows[-1].append(key)
        elif rows[-1]:
            rows.append([])
    chosen = ", ".join(f'("{row[0]}", "{row[-1]}")' for row in rows if row)
    return (
        f"[it.close() for all in [list({registry_expression()}.items())] "
        f"for keys in [[key for key, _ in all]] for a, b in [{chosen}] "
        "if a in keys and b in keys for _, it in all[keys.index(a):keys.index(b) + 1]]; "
        # Widgets are cycles, which wait for the collector.
        '__import__("gc").collect();'
    )


def _identities(objects: Iterable[Any]) -> set[int]:
    return {id(it) for it in objects}


def _without(objects: list[Any], others: list[Any]) -> list[Any]:
    left_out = _identities(others)
    return [it for it in objects if id(it) not in left_out]
