"""Autograd graphs behind objects in a container: of the tensors that these have as attributes, as a distribution has
its logits."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from xleak import _native
from xleak.shell.fields import fields_of
from xleak.shell.holders.look import LEAST_BYTES, REPORTED_BYTES, Look, may_be_released
from xleak.shell.holders.places import container_of, is_within, overlaps, parent_of, value_at
from xleak.shell.tensor_fields import is_tensor

# Fewer are a comparison, not a history.
_SEVERAL = 3

_Rows = Mapping[str, list[str]]
"""By the expression of an element those of the tensors behind it."""


class GraphsBehindObjects:
    """By the expression of the container, once it outlived the cell that filled it: until then they may be needed for
    a backward pass."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each container."""
        known = {*look.explained, *look.reported}
        found = {way: rows for way, rows in _containers(look).items() if not overlaps(way, known)}
        self._since = {way: self._since.get(way, look.cell) for way in found}
        namespace = look.watcher.shell.user_ns
        for way, rows in found.items():
            container = value_at(namespace, way)
            tensors = [value_at(namespace, it) for its in rows.values() for it in its]
            own = [id(it) for it in tensors if look.heap.keeps(container, it)]
            # An object may have one of them under two names.
            freed = look.heap.freed_by_detaching(own, everywhere=True)
            if freed < REPORTED_BYTES:
                continue
            since = self._since[way]
            if since == look.cell:
                look.search_again()
                continue
            yield _native.Holder(
                "graphs of tensors",
                way,
                freed,
                since,
                "autograd graphs",
                len(rows),
                _detaching(look, way, rows),
            )


def _containers(look: Look) -> dict[str, _Rows]:
    """Those with several such elements; of containers within each other the inner ones."""
    found: dict[str, dict[str, list[str]]] = {}
    for shown in {it.way.partition(".grad_fn")[0] for it in _graphs(look)}:
        # What is an element itself is another reporter's.
        owner = "" if container_of(shown) else parent_of(shown)
        row = owner
        while row:
            if may_be_released(way := container_of(row)):
                found.setdefault(way, {})[row] = _tensors_of(look, owner)
            row = parent_of(row)
    several = {way: rows for way, rows in found.items() if len(rows) >= _SEVERAL}
    return {
        way: rows
        for way, rows in several.items()
        if not any(is_within(inner, [way]) for inner in several)
    }


def _graphs(look: Look) -> list[_native.GraphBytes]:
    # What several tensors of one object share is kept by none of them alone.
    return look.heap.graphs(LEAST_BYTES, shared=True, together=True)


def _tensors_of(look: Look, owner: str) -> list[str]:
    fields = fields_of(value_at(look.watcher.shell.user_ns, owner))
    names = [name for name in fields if type(name) is str and name.isidentifier()]
    return [f"{owner}.{name}" for name in names if is_tensor(fields[name])]


def _detaching(look: Look, way: str, rows: _Rows) -> str:
    """Code that leaves the objects their values; empty where they are not all of one form."""
    container = value_at(look.watcher.shell.user_ns, way)
    forms = {tuple(sorted(it.removeprefix(row) for it in its)) for row, its in rows.items()}
    if len(forms) > 1 or len(rows) < len(_native.values_of(container)):
        return ""
    if not _native.is_exactly(container, (list, dict, deque)):
        return ""
    each = f"{way}.values()" if type(container) is dict else way
    parts = [f"v{step}" for step in forms.pop()]
    code = ", ".join(
        f"setattr({parent_of(it)}, {it.rpartition('.')[2]!r}, {it}.detach())" for it in parts
    )
    return f"[({code}) for v in {each}];"
