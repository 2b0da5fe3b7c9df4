"""Random sessions: cells that show, name, keep, drop and lose large values in every way that the agent could
confuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent_tensor_cells import CELLS, FRESH
from agent_tensor_cells import SETUP as TENSOR_SETUP
from hypothesis import strategies as st

MIB = 1 << 20
Cells = list[str]

# What the cells use. Large enough that a forgotten value is a finding, in a cycle too.
SETUP = f"""
import gc, weakref
logs = []
LARGE, HUGE = {2 * MIB}, {20 * MIB}
class Node:
    def __init__(self, size=LARGE): self.data, self.me = bytearray(size), self
    def __repr__(self): return 'a node'
class Plain:
    def __init__(self): self.data = bytearray(LARGE)
    def __repr__(self): return 'plain'
class Told(Node):
    def __del__(self, logs=logs): logs.append('gone')
class View:
    def __init__(self, data): self.data = data
    def __repr__(self): return 'a view'
def fail(size=LARGE):
    big = bytearray(size)
    raise ValueError('failed')
def chained(inner):
    other = bytearray(LARGE)
    raise KeyError('outer') from inner
"""
SETUPS = [SETUP, TENSOR_SETUP]
NAMES = ["a", "b", "c", "d"]


class _Writer:
    """Writes cells that make sense one after another: names that may be bound, entries that stay."""

    def __init__(self, draw: Callable[[st.SearchStrategy[str]], str]) -> None:
        self._draw = draw
        self.cells: Cells = []
        self.stays: list[int] = []
        self._latest: int | None = None

    def write(self, kind: str) -> None:
        name = self._draw(st.sampled_from(NAMES))
        other = self._draw(st.sampled_from(NAMES))
        fresh = self._draw(st.sampled_from(["Plain()", "View(bytearray(LARGE))", "[Plain()]"]))
        number = len(self.cells) + 1 + len(SETUPS)
        texts = {
            "assign": f"{name} = {fresh}",
            "alias": f"{name} = globals().get('{other}')",
            "contain": f"{name} = [globals().get('{other}'), {{'k': globals().get('{name}')}}]",
            "delete": f"globals().pop('{name}', None);",
            "show": fresh,
            "show a name": f"globals().get('{name}')",
            "name and show": f"{name} = {fresh}\n{name}",
            "lose": f"{name} = {fresh}\n{name}\n",
            "underscore": f"{name} = _",
            "two back": f"{name} = [_, __]",
            "small": f"'{name}' * 3",
            "hide": f"_ = {name!r};",
            "unhide": "globals().pop('_', None);",
            "cycle": f"{name} = Node(HUGE)",
            "lose a cycle": "Node(HUGE);",
            "told": "Told(HUGE);",
            "watched cycle": f"{name} = Node(HUGE)\n{other} = weakref.ref({name})\ndel {name}",
            "watch": f"{name} = {fresh}\n{name}",
            "fail": "fail()",
            "fail large": "fail(HUGE)",
            "keep the error": f"try: fail()\nexcept ValueError as error: {name} = error\nraise {name}",
            "keep it deep": "try: fail()\nexcept ValueError as error:\n"
            f"    {name} = [error]\n    raise",
            "chain": f"try: fail()\nexcept ValueError as error:\n    {name} = [error]\n    chained(error)",
            "close over": f"def {name}(kept=globals().get('{other}')): return kept",
            "use": "[type(globals().get(n)).__name__ for n in 'abcd']",
            "dead or alive": "[type(globals().get(n)).__name__ == 'ReferenceType' "
            "and globals()[n]() is None for n in 'abcd']",
            "print": "print(len(logs), logs[-1:])",
            "generator": f"{name} = (yes for yes in [Plain(), Plain()])\nnext({name});",
            "whole": f"{name} = len(Out) > 0",
        }
        if kind == "watch":
            self.cells += [texts[kind], f"{other} = weakref.ref({name});", f"{name} = None"]
        elif kind == "mention":
            # Right after it was shown; from then on it stays.
            self.cells += [fresh, f"{name} = type(Out[{number}]).__name__"]
            self.stays.append(number)
        elif kind == "mention again" and self.stays:
            self.cells.append(f"{name} = Out[{self.stays[-1]}]")
        elif kind == "lose":
            self.cells += [texts[kind], f"{name} = None", "'x'", "'y'", "'z'"]
        elif kind in texts:
            self.cells.append(texts[kind])

    def write_tensors(self, kind: str) -> None:
        names = {it: self._draw(st.sampled_from(NAMES)) for it in ("name", "other")}
        fresh, number = self._draw(st.sampled_from(FRESH)), len(self.cells) + 1 + len(SETUPS)
        self.cells += CELLS[kind].format(**names, fresh=fresh, number=number).split("|||")

    KINDS = [
        "assign",
        "alias",
        "contain",
        "delete",
        "show",
        "show a name",
        "name and show",
        "lose",
        "lose",
        "underscore",
        "two back",
        "small",
        "small",
        "hide",
        "unhide",
        "cycle",
        "lose a cycle",
        "told",
        "watched cycle",
        "watch",
        "fail",
        "fail large",
        "keep the error",
        "keep it deep",
        "chain",
        "close over",
        "use",
        "dead or alive",
        "print",
        "generator",
        "mention",
        "mention again",
    ]


@st.composite
def sessions(draw: Callable[..., Any]) -> Cells:
    """Cells in their order; after the last ones the agent has had time for all."""
    writer = _Writer(draw)
    plain = [(writer.write, kind) for kind in _Writer.KINDS]
    tensors = [(writer.write_tensors, kind) for kind in CELLS]
    steps = st.one_of(st.sampled_from(plain), st.sampled_from(tensors))
    for write, kind in draw(st.lists(steps, min_size=3, max_size=14)):
        write(kind)
    return [*SETUPS, *writer.cells, "after = 1", "'done'"]
