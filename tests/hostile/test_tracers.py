"""A tracer or profiler of the program's sees what it sees without xleak."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from both_ways import WAYS, ran_in, session_of
from harness import Session
from panel_client import PanelClient

# Events in the program's own code by function and line, and the functions of xleak's that had any, but for two:
# those of xleak's kernel in which cells and the handlers of comms run.
RECORDER = """
import asyncio, sys, threading
seen, own, around = [], set(), ("_run_request", "_call")
def record(frame, event, arg):
    code = frame.f_code
    if frame.f_globals is globals():
        seen.append((code.co_name, event, frame.f_lineno))
    elif "/xleak/" in code.co_filename and code.co_name not in around:
        own.add((code.co_name, code.co_filename))
    return record
class Countdown:
    def __init__(self, start): self.left = start
    def __iter__(self):
        while self.left:
            self.left -= 1
            yield self.left
    def __del__(self): pass
def fails(value): raise ValueError(value)
def deep(n): return n and deep(n - 1)
async def waits(n):
    for _ in range(n): await asyncio.sleep(0)
    return n
"""
CELLS = [
    "x = 1",
    "x",
    "[it for it in Countdown(3)]",
    "fails(1)",
    "await waits(3)",
    "task = asyncio.ensure_future(waits(2)); await task",
    "try: fails(2)\nexcept ValueError as error: kept = error",
    "deep(5)",
    "steps = iter(Countdown(3)); next(steps)",
    "next(steps)",
    "thread = threading.Thread(target=deep, args=(3,)); thread.start(); thread.join()",
    "big = bytearray(40 << 20)",
    "big = None",
    "print(x)",
]
INSTALLED = {
    "settrace": ("sys.settrace(record)", "sys.settrace(None)"),
    "setprofile": ("sys.setprofile(record)", "sys.setprofile(None)"),
    "threading": (
        "threading.settrace(record); threading.setprofile(record)",
        "threading.settrace(None); threading.setprofile(None)",
    ),
    "both": (
        "sys.settrace(record); sys.setprofile(record)",
        "sys.settrace(None); sys.setprofile(None)",
    ),
}
DEEP_ONCE = ["call", "line", "call", "line", "return", "return"]
MAGICS = [
    "%memreport",
    "%leakcheck",
    "%release_cache",
    "%xdel big",
    "%xleak journal",
    "%memreport a b",
    "%xdel no_such_name",
]


def events(session: Session, installed: str, cells: list[str]) -> Any:
    """What a recorder saw of the program while these cells ran, and of xleak."""
    begin, end = INSTALLED[installed]
    session.run(RECORDER)
    session.run(begin)
    for cell in cells:
        session.run(cell)
    session.run(end)
    return session.ask("seen"), session.ask("sorted(own)")


def of_deep(seen: list[tuple[str, str, int]]) -> list[str]:
    """The events in deep()."""
    return [event for name, event, _ in seen if name == "deep"]


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """By how the recorder was installed, what it sees of the cells in ipykernel alone."""
    found = {it: ran_in("plain", partial(events, installed=it, cells=CELLS)) for it in INSTALLED}
    assert all(seen and not own for seen, own in found.values())
    return found


@pytest.mark.parametrize("installed", INSTALLED)
@pytest.mark.parametrize("way", WAYS)
def test_a_recorder_sees_the_program_and_nothing_of_xleak(
    way: str, installed: str, expected: dict[str, Any]
) -> None:
    assert ran_in(way, lambda session: events(session, installed, CELLS)) == expected[installed]


@pytest.mark.parametrize("way", WAYS)
def test_magics_are_not_seen_and_what_follows_them_is(way: str) -> None:
    cells = ["big = bytearray(40 << 20)", *MAGICS, "deep(1)"]
    seen, own = ran_in(way, lambda session: events(session, "settrace", cells))
    assert own == []
    assert of_deep(seen) == DEEP_ONCE


@pytest.mark.parametrize("way", WAYS)
def test_the_program_of_a_marked_cell_is_seen(way: str) -> None:
    seen, own = ran_in(way, lambda session: events(session, "settrace", ["%%leakcheck\ndeep(1)"]))
    assert own == []
    assert of_deep(seen) == DEEP_ONCE


@pytest.mark.parametrize("way", WAYS)
def test_a_recorder_that_magics_come_between_is_still_installed(way: str) -> None:
    with session_of(way) as session:
        session.run(RECORDER)
        session.run("sys.settrace(record); sys.setprofile(record)")
        for cell in MAGICS:
            session.run(cell)
        assert (
            session.value("sys.gettrace() is record, sys.getprofile() is record") == "(True, True)"
        )


@pytest.mark.parametrize("way", WAYS)
def test_what_a_collection_for_release_cache_finalizes_is_seen(way: str) -> None:
    cells = ["it = Countdown(1); it.me = it", "it = None", "%release_cache"]
    seen, own = ran_in(way, lambda session: events(session, "settrace", cells))
    assert own == []
    assert "__del__" in [name for name, _, _ in seen]


@pytest.mark.parametrize("way", WAYS)
def test_a_look_between_cells_and_the_requests_of_a_panel_are_not_seen(way: str) -> None:
    with session_of(way) as session:
        session.run(RECORDER)
        panel = PanelClient(session.client)
        panel.ask("subscribe")
        session.run("sys.settrace(record); sys.setprofile(record)")
        session.run("shown = bytearray(40 << 20)\nmemoryview(shown)")
        session.run("del shown")
        while not panel.wait_for("findings")["added"]:
            pass
        for kind in ("names", "devices"):
            assert panel.ask(kind)["kind"] == kind
        panel.close()
        session.run("sys.settrace(None); sys.setprofile(None)")
        assert session.ask("sorted(own)") == []


@pytest.mark.parametrize("way", WAYS)
def test_cprofile_over_several_cells_counts_the_program_and_nothing_of_xleak(way: str) -> None:
    with session_of(way) as session:
        session.run(RECORDER + "import cProfile, pstats\nprofiler = cProfile.Profile()")
        session.run("profiler.enable()")
        for cell in ("deep(5)", "x = bytearray(40 << 20)", "print(1)", "%memreport", "deep(2)"):
            session.run(cell)
        session.run("profiler.disable()\ncounted = pstats.Stats(profiler).stats")
        of_deep = "[(calls, all_calls) for (_, _, name), (calls, all_calls, *_) in counted.items() if name == 'deep']"
        assert session.ask(of_deep) == [(2, 9)]
        files = session.ask(
            "sorted({(name, file) for file, _, name in counted if '/xleak/' in file})"
        )
        assert [it for it in files if it[0] not in ("_run_request", "_call")] == []
