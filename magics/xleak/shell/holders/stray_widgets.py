"""Widgets that nobody can see or name any more, and that ipywidgets' registry keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from xleak import _native
from xleak.shell.holders.fields import fields_of, loaded_class
from xleak.shell.holders.growth_history import RISES
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.widget_history import WidgetHistory
from xleak.shell.widgets import OPEN_WIDGETS, model_in, open_widgets, registry_expression

# Model ids by the id of the widget.
_Ids = dict[int, str]


class StrayWidgets:
    """Those of a cell that left more of them open with each of three runs, or that made several
    of one type and showed none."""

    def __init__(self) -> None:
        self.history = WidgetHistory()

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """By the cell that made them."""
        ids = {id(it): key for key, it in list(open_widgets().items())}
        strays = self._strays(look, ids)
        shown = [it for it in strays if self.history.was_shown(ids[id(it)])]
        were_shown = _identities(look.heap.led_to(shown, strays)) if strays else set()
        groups: dict[str, list[Any]] = {}
        for it in strays:
            groups.setdefault(self.history.cell_of(ids[id(it)]), []).append(it)
        for cell, members in groups.items():
            if not self.history.has_risen(cell):
                members = [it for it in members if id(it) not in were_shown]
                members = members if self._are_many(members, ids) else []
            held = look.heap.freed_without(members) if members else 0
            if held >= REPORTED_BYTES:
                yield self._holder(look, cell, members, ids, held)

    def _strays(self, look: Look, ids: _Ids) -> list[Any]:
        """Those that no name and no widget on the screen leads to."""
        widgets = [it for it in open_widgets().values() if id(it) in ids]
        gone = [it for it in widgets if self.history.is_gone(ids[id(it)])]
        if gone:
            gone = look.heap.kept_by([OPEN_WIDGETS, *_outputs_of(gone, look)], gone)
        live = _without(widgets, gone)
        inside = set(_models_inside(live))
        live += [it for it in gone if ids[id(it)] in inside]
        strays = _without(gone, look.heap.led_to(live, gone)) if gone else []
        # A link between two widgets acts without being seen; no widget leads to it.
        visible = loaded_class("ipywidgets.widgets.domwidget", "DOMWidget") or object
        seen = [it for it in strays if issubclass(type(it), visible)]
        return look.heap.led_to(seen, strays) if seen else []

    def _are_many(self, widgets: list[Any], ids: _Ids) -> bool:
        """Whether one run made several of one type."""
        made = Counter((self.history.made_by(ids[id(it)]), id(type(it))) for it in widgets)
        return any(count >= RISES for count in made.values())

    def _holder(
        self, look: Look, cell: str, strays: list[Any], ids: _Ids, held: int
    ) -> _native.Holder:
        first = self.history.first_run(cell)
        record = _native.record(first)
        label = f"{OPEN_WIDGETS} of In[{(record and record.execution_count) or first}]"
        since = min(self.history.made_by(ids[id(it)]) for it in strays)
        largest = _native.type_name(max(strays, key=look.heap.retained_by))
        entries = [f"%xdel {entry}\n" for entry in _outputs_of(strays, look)]
        release = "".join(entries) + _closing({ids[id(it)] for it in strays})
        return _native.Holder("widgets", label, held, since, largest, len(strays), release)


def _outputs_of(widgets: list[Any], look: Look) -> list[str]:
    """The entries of the output cache that have them, but those that the user mentioned."""
    out, wanted = look.watcher.caches.out, _identities(widgets)
    used = {id(out[number]) for number in look.watcher.mentioned if number in out}
    return [
        f"Out[{number}]"
        for number, value in list(out.items())
        if id(value) in wanted and id(value) not in used
    ]


def _models_inside(widgets: Iterable[Any]) -> Iterator[str]:
    """The model ids of widgets that are shown in what output widgets captured."""
    base = loaded_class("ipywidgets.widgets.widget_output", "Output")
    for it in widgets:
        if base is not None and issubclass(type(it), base):
            values = fields_of(it, base).get("_trait_values")
            outputs = values.get("outputs") if type(values) is dict else ()
            yield from map(model_in, outputs if type(outputs) is tuple else ())


def _closing(model_ids: set[str]) -> str:
    """Code that closes just these, where they are still open. They are told by the first and the
    last of each row, since the registry has them in the order in which they were made."""
    rows: list[list[str]] = [[]]
    for key in list(open_widgets()):
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
