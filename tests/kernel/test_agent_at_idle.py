"""The agent in a real kernel: when it works, and when it stops."""

from __future__ import annotations

import time
from typing import Any

import pytest
from harness import TIMEOUT, Session
from panel_client import PanelClient

pytestmark = pytest.mark.each_ipython

MIB = 1 << 20
JOURNAL = """[(it.what, it.cell, it.freed.get("malloc", 0)) for it in
__import__("xleak.shell.watcher").shell.watcher.watcher().journal.entries]"""
CELLS = [f"memoryview(bytearray({8 * MIB}))", "'a'", "'b'", "'c'"]


def journal(kernel: Session) -> Any:
    """What the journal has, once it has anything."""
    deadline, pause = time.monotonic() + TIMEOUT, 0.3
    while not (entries := kernel.ask(JOURNAL)):
        # Each question has the agent wait for idle again.
        assert time.monotonic() < deadline, "nothing was released"
        time.sleep(pause)
        pause *= 2
    return entries


def test_cells_that_are_run_together_are_waited_for(fresh_kernel: Session) -> None:
    fresh_kernel.run("%xleak policy auto XL401")
    asked = [fresh_kernel.send(cell) for cell in [*CELLS, *["x = 1"] * 5]]
    for it in asked:
        assert fresh_kernel.wait(it).content["status"] == "ok"
    [(what, cell, freed)] = journal(fresh_kernel)
    assert (what, cell) == ("Out[2]", 10)
    assert abs(freed - 8 * MIB) < MIB


# Below one row that stays, so that malloc keeps what the others had.
ROWS = "rows = [bytearray(8000) for _ in range(45_000)]; last = bytearray(8000); rows = None"
RESIDENT = "int(open('/proc/self/statm').read().split()[1]) * 4096"


def test_free_pages_of_the_heap_go_back_to_the_system(fresh_kernel: Session) -> None:
    fresh_kernel.run("%xleak policy auto XL630")
    fresh_kernel.run(ROWS)
    assert fresh_kernel.findings() == {}
    large = fresh_kernel.ask(RESIDENT)
    fresh_kernel.run("x = 1")
    [(what, cell, _)] = journal(fresh_kernel)
    assert (what, cell) == ("the C heap", 3)
    assert large - fresh_kernel.ask(RESIDENT) > 300 * MIB


# Holds the agent up until a request has come in.
HOLD = """
import time
from xleak import _kernel
from xleak.agent.releases import Releases
real = Releases._outputs
def held(self, findings, interrupted):
    print("the agent works")
    until = time.monotonic() + 20
    while not interrupted() and time.monotonic() < until:
        time.sleep(0.01)
    Releases.stopped = interrupted()
    return real(self, findings, interrupted)
Releases._outputs = held
"""


def test_a_request_that_comes_while_the_agent_works_stops_it_and_is_answered(
    fresh_kernel: Session,
) -> None:
    fresh_kernel.run(HOLD)
    fresh_kernel.run("%xleak policy auto XL401")
    panel = PanelClient(fresh_kernel.client)
    for cell in CELLS:
        fresh_kernel.run(cell)
    while "the agent works" not in str(panel.next_published()["content"].get("text")):
        pass
    assert fresh_kernel.run("1 + 1").value == "2"
    assert fresh_kernel.ask("Releases.stopped") is True
    assert fresh_kernel.ask(JOURNAL) == []
    panel.close()


def test_a_panel_reads_the_journal_and_takes_a_release_back(fresh_kernel: Session) -> None:
    panel = PanelClient(fresh_kernel.client)
    assert {"journal", "undo"} <= set(panel.hello["capabilities"])
    panel.ask("subscribe")
    fresh_kernel.run("%xleak policy auto XL401")
    assert panel.wait_for("rule_policies")["policies"] == {"XL401": "auto"}
    fresh_kernel.run("%xleak journal --keep-undo 3")
    for cell in CELLS:
        fresh_kernel.run(cell)
    [entry] = panel.wait_for("journal")["entries"]
    assert (entry["what"], entry["freed"], entry["undo"]) == ("Out[3]", {}, True)
    assert "8 MiB kept for undo" in entry["why"]
    assert panel.ask("journal")["entries"] == [entry]
    assert panel.ask("undo", number=entry["number"])["lines"] == ["Out[3] is back"]
    assert fresh_kernel.ask("len(Out[3])") == 8 * MIB
    assert panel.ask("undo", number=entry["number"])["kind"] == "error"
    assert panel.ask("undo", number=99)["message"] == "The journal has no entry 99."
    late = PanelClient(fresh_kernel.client)
    late.ask("subscribe")
    assert late.wait_for("rule_policies")["policies"] == {"XL401": "auto"}
    late.close()
    panel.close()
