"""Containers of the user's that change while xleak reads them, by a finalizer or by another thread."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness import Session, start, stop

MAGICS = """
%memreport
%memreport kept
%memreport Out[7]
%leakcheck
%leakcheck --all
%leakcheck --diagnose
%leakcheck --json
%xleak devices
%xleak oom
%xleak watch
%xleak watch --diff
%xdel --dry-run kept
%xdel --dry-run Out[7] kept
%release_cache --dry-run
%xdel -n gone
%xdel lost
%release_cache
%xleak journal
""".strip().splitlines()

# One change of all that xleak reads, each time another one.
CHANGES = """
import collections, gc, itertools, logging, sys, threading, types, weakref
import torch
class Holder:
    pass
holder, model, logger = Holder(), torch.nn.Linear(100, 100), logging.getLogger("changing")
optimizer = torch.optim.SGD(model.parameters(), 0.1)
in_list, in_dict, in_set, in_deque = [], {}, set(), collections.deque()
kept, lost, gone = [bytearray(300_000)], bytearray(300_000), 1
Out[7] = bytearray(300_000)
number = itertools.count()
def change():
    n = next(number)
    names, turn, value = globals(), n % 50, bytearray(100_000 if n % 10 == 0 else 10)
    names[f"changing_{turn}"], names[f"_{1000 + turn}"] = value, value
    names.pop(f"changing_{(turn + 7) % 50}", None)
    names.pop(f"_{1000 + (turn + 7) % 50}", None)
    Out[1000 + turn] = value
    Out.pop(1000 + (turn + 7) % 50, None)
    for entries in (in_dict, vars(holder), vars(model), model._buffers, get_ipython().user_ns_hidden):
        entries[f"changing_{turn}"] = value
        entries.pop(f"changing_{(turn + 7) % 50}", None)
    sys.modules[f"changing_{turn}"] = types.ModuleType("changing")
    sys.modules.pop(f"changing_{(turn + 7) % 50}", None)
    optimizer.state[torch.nn.Parameter(torch.ones(1))] = {"changing": torch.ones(1)}
    for items in (in_list, in_deque, logger.handlers):
        items.append(value if items is not logger.handlers else logging.NullHandler())
        if len(items) > 50:
            items.clear()
    in_set.add(n)
    if len(in_set) > 50:
        in_set.clear()
        optimizer.state.clear()
"""
# Each one that is collected changes something and leaves another one to be collected. All else is
# too old to be looked at.
BY_FINALIZER = """
class Garbage:
    def __init__(self):
        self.itself = self
    def __del__(self):
        if is_on:
            change()
            Garbage()
is_on = True
gc.collect(); gc.freeze(); gc.set_threshold(5, 1_000_000, 1_000_000)
Garbage();
"""
BY_THREAD = """
def run():
    while is_on:
        change()
is_on = True
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=run, daemon=True) for _ in range(2)]
for thread in threads: thread.start()
"""
ENDS = """
is_on = False
sys.setswitchinterval(0.005)
gc.set_threshold(700, 10, 10)
"""


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    session = start()
    assert session.run(CHANGES).content["status"] == "ok"
    yield session
    stop(session)


@pytest.mark.slow
@pytest.mark.parametrize("begins", [BY_FINALIZER, BY_THREAD], ids=["finalizer", "thread"])
@pytest.mark.parametrize("magic", MAGICS)
def test_a_container_may_change_while_it_is_read(session: Session, begins: str, magic: str) -> None:
    session.run("kept, lost, gone = [bytearray(300_000)], bytearray(300_000), 1\nOut[7] = lost;")
    session.run(begins)
    failed = []
    for _ in range(3):
        ran = session.run(magic)
        if ran.content["status"] != "ok" or "xleak failed" in ran.text("stderr"):
            failed.append((ran.content.get("evalue"), ran.text("stderr")))
        session.run(
            "kept, lost, gone = [bytearray(300_000)], bytearray(300_000), 1\nOut[7] = lost;"
        )
    session.run(ENDS)
    assert failed == []
