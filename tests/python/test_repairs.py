"""What a finding offers frees the memory, and it names the line that made it."""

from __future__ import annotations

import textwrap

import pytest
from shell_session import session

_REPAIRED = """
from xleak.verdict import session_verdict
def found(code):
    return [it for it in session_verdict(settled=True).findings if it.code == code]
cells = {cells!r}
for cell in cells:
    run(cell)
run("later = 1")
[it] = found({code!r})
print("place", it.cause_cell, it.line)
print("offered", it.fixes[0].code)
run(it.fixes[0].code)
run("later = 2")
print("left", len(found({code!r})))
"""
_MODULE = """
import sys, types
import numpy as np
bus = types.ModuleType("bus")
bus.listeners = []
sys.modules["bus"] = bus
del bus
"""
_BOARDS = """
import bus
class Board:
    def __init__(self):
        self.values = np.random.rand(400_000)
        bus.listeners.append(self.update)
    def update(self, value):
        pass
def look():
    return Board().values.max()
tops = [look() for _ in range(6)]
del bus
"""
_EVENTS = """
import numpy as np
def watched():
    before = np.random.rand(2_500_000)
    get_ipython().events.register("post_run_cell", lambda result: before.size)
watched()
"""
_IN_A_TABLE = """
import numpy as np
class Model:
    def __init__(self):
        self.grid = np.random.rand(2_500_000)
    def save(self):
        return self.grid.size
model = Model()
table = {"save": [model.save]}
"""
_STACKED = """
import contextlib
import numpy as np
stack = contextlib.ExitStack()
volume = np.random.rand(2_500_000)
stack.callback(print, volume)
"""
_FAULTS = """
import numpy as np
def check(number):
    grid = np.random.rand(400_000)
    raise ArithmeticError(str(number))
faults = []
for number in range(6):
    try:
        check(number)
    except ArithmeticError as error:
        faults.append((number, error))
"""
_SHOWN = """
import numpy as np
order = 1

np.random.rand(
    400_000)
"""


def _repaired(code: str, *cells: str) -> dict[str, str]:
    """What a session says of the cells, and of the memory once its repair ran."""
    sources = [textwrap.dedent(cell).strip("\n") for cell in cells]
    script = _REPAIRED.format(cells=sources, code=code)
    lines = session(script).splitlines()
    words = ("place", "offered", "left")
    return dict(line.split(" ", 1) for line in lines if line.startswith(words))


@pytest.mark.parametrize(
    ("code", "cells", "place", "offered"),
    [
        (
            "XL421",
            [_MODULE, _BOARDS],
            "2 4",
            "__import__(\"sys\").modules['bus'].listeners.clear()",
        ),
        ("XL421", [_EVENTS], "1 3", "del get_ipython().events.callbacks['post_run_cell']["),
        ("XL422", [_IN_A_TABLE, "del model"], "1 4", "del table['save'][0]"),
        ("XL421", [_STACKED, "del volume"], "1 4", "del stack._exit_callbacks[0]"),
        ("XL403", [_FAULTS], "1 3", "for it in faults: it[1].__traceback__ = None"),
        ("XL401", [_SHOWN], "1 4", "%xdel Out[1]"),
    ],
    ids=["module", "events", "table", "stack", "errors", "shown"],
)
def test_a_finding_names_the_line_and_its_repair_frees_the_memory(
    code: str, cells: list[str], place: str, offered: str
) -> None:
    said = _repaired(code, *cells)
    assert said["place"] == place
    assert offered in said["offered"]
    assert said["left"] == "0"
