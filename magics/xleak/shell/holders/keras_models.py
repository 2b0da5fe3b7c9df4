"""Keras models that runs of cells trained and left: what TensorFlow's table of gradients keeps of those that
are gone, and models that only the History of their training has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell import gradient_table
from xleak.shell.fields import fields_of, instances
from xleak.shell.holders.look import Look, may_be_released
from xleak.shell.holders.reruns import identity_of
from xleak.shell.own_ref import OwnRef

# One to compare with another is no pile.
_MODELS = 3
_TABLE = '__import__("sys").modules["tensorflow.python.framework.ops"].gradient_registry._registry'
_COLLECT = "import gc; gc.collect();"

# By name of an entry of the table the handles of its variables.
_Variables = dict[str, list[Any]]


@dataclass
class _Lost:
    """What is left of the models of one run."""

    cell: int
    entries: list[str] = field(default_factory=list)
    """Of the table."""
    variables: dict[int, Any] = field(default_factory=dict)
    models: set[int] = field(default_factory=set)
    """One variable of each."""


class KerasModels:
    """Told by the cell that trained them."""

    def __init__(self) -> None:
        self._entries = 0
        self._made: dict[int, list[str]] = {}
        """By cell the entries that its training made."""
        self._runs: dict[int, str] = {}
        """Of those cells the identity."""
        self._since: dict[int, int] = {}
        """By History."""
        self._told: list[OwnRef[Any]] = []

    def after_cell(self, cell: int, source: str) -> bool:
        """Whether the cell trained a model again, or something was taken out of what was told."""
        table = gradient_table.table()
        before, self._entries = self._entries, len(table)
        if len(table) > before:
            # It is in order of time.
            new = [name for name, _ in _native.items_of(table, before)]
            made = [it for it in new if type(it) is str and gradient_table.is_made(it)]
            self._made[cell], self._runs[cell] = made, identity_of(cell, source)
        return len(table) != before or any(_is_rid(it()) for it in self._told)

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each cell with several such models, or that was run several times, and one
        for the Histories of each cell."""
        variables = {
            name: gradient_table.variables_of(name) for it in self._made.values() for name in it
        }
        runs: dict[str, list[_Lost]] = {}
        for it in self._lost(look, variables) if variables else ():
            if len(it.models) >= _MODELS:
                yield _holder("lost models", [it], len(it.models), look)
            else:
                runs.setdefault(self._runs[it.cell], []).append(it)
        for identity, its in runs.items():
            count = sum(it == identity for it in self._runs.values())
            # The last run's may be in use.
            if count >= _MODELS and len(its) >= _MODELS - 1:
                yield _holder("models of runs", its, count, look)
        yield from self._of_histories(look, variables)

    def _lost(self, look: Look, variables: _Variables) -> Iterator[_Lost]:
        """By cell the models all of whose variables the table alone leads to."""
        handles = list({id(it): it for its in variables.values() for it in its}.values())
        alone = {id(it) for it in look.heap.kept_by([gradient_table.LABEL], handles)}
        for cell, names in self._made.items():
            lost = _Lost(cell)
            for name in names:
                its = {id(it): it for it in variables[name]}
                # One that was compiled again is there: the entry has its weights too.
                if its and its.keys() <= alone:
                    lost.entries.append(name)
                    # Several traces of one model have the same ones.
                    lost.models.add(min(its))
                    lost.variables |= its
            if lost.models:
                yield lost

    def _of_histories(self, look: Look, variables: _Variables) -> Iterator[_native.Holder]:
        before, self._since, self._told = self._since, {}, []
        groups: dict[int, list[tuple[Any, Any]]] = {}
        for history, fields in instances(look.live, "keras.src.callbacks.history", "History"):
            model = fields.get("_model")
            if model is not None and look.heap.keeps(history, model):
                since = self._since[id(history)] = before.get(id(history), look.cell)
                groups.setdefault(since, []).append((history, model))
        for since, pairs in groups.items():
            if len(pairs) >= _MODELS:
                self._told += [OwnRef(history) for history, _ in pairs]
                models = [model for _, model in pairs]
                entries = _entries_of(models, variables, look)
                table = gradient_table.table()
                held = look.heap.freed_without(
                    [*models, *(_native.value_at(table, it) for it in entries)]
                )
                ways = [look.heap.way_to(history) for history, _ in pairs]
                release = ""
                if all(may_be_released(way) for way in ways):
                    release = f"[it.set_model(None) for it in ({', '.join(ways)})]; "
                    release += _forgetting(entries)
                label = f"histories of models, from {name_of_run(since)} on"
                yield _native.Holder(
                    "models of histories", label, held, since, ways[0], len(pairs), release
                )


def _is_rid(history: Any) -> bool:
    return history is None or fields_of(history).get("_model") is None


def _entries_of(models: list[Any], variables: _Variables, look: Look) -> list[str]:
    """What the table has of models: entries all of whose variables are theirs."""
    handles = list({id(it): it for its in variables.values() for it in its}.values())
    if not handles:
        return []
    theirs = {id(it) for it in look.heap.led_to(models, handles)}
    return [name for name, its in variables.items() if its and {id(it) for it in its} <= theirs]


def _forgetting(entries: list[str]) -> str:
    popped = f"[{_TABLE}.pop(it, None) for it in {entries}]; " if entries else ""
    return popped + _COLLECT


def _holder(kind: str, lost: list[_Lost], count: int, look: Look) -> _native.Holder:
    variables = {key: it for one in lost for key, it in one.variables.items()}
    held = sum(look.heap.retained_by(it) for it in variables.values())
    release = _forgetting([name for one in lost for name in one.entries])
    since = lost[0].cell
    label = f"trained models, from {name_of_run(since)} on"
    return _native.Holder(kind, label, held, since, "", count, release)
