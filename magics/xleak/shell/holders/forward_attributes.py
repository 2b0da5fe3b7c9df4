"""Tensors that a forward pass leaves on its module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of
from xleak.shell.holders.containers import has_graph, is_users_class
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.signs import SourceSigns
from xleak.shell.modules import live_modules
from xleak.shell.tensor_fields import is_tensor


class ForwardAttributes:
    """Those that methods set unasked and that nobody reads or resets."""

    def __init__(self, signs: SourceSigns) -> None:
        self._signs = signs

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each attribute."""
        for name, tensor in _tensors(look):
            kept = look.heap.retained_by(tensor)
            way = look.heap.way_to(tensor) if kept >= REPORTED_BYTES else ""
            if not is_the_users(way) or not way.endswith(f".{name}"):
                continue
            signs = self._signs.of_session(look)
            given = signs.left_by_methods.get(name)
            wanted = name in signs.attributes_used or name in signs.attributes_reset
            if given is None or wanted or not (given or has_graph(tensor)):
                continue
            since = self._signs.cell_that_leaves(name)
            release = f"{way} = None"
            yield _native.Holder("tensor of a forward pass", way, kept, since, name, 1, release)


def _tensors(look: Look) -> Iterator[tuple[str, Any]]:
    """(name, tensor) of the attributes of the user's modules, parameters and buffers aside."""
    for it in live_modules(look.live):
        if is_users_class(type(it)):
            for name, value in fields_of(it).items():
                if type(name) is str and is_tensor(value):
                    yield name, value
