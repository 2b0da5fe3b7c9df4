"""A program that puts functions of its own in the places of Python's: xleak works on, and calls none of them."""

from __future__ import annotations

from typing import Any

import pytest
from both_ways import WAYS, ran_in, session_of
from harness import Session

# IPython and the standard library call many of the others while a cell runs.
OF_MODULES = [
    *("gc.collect", "gc.get_objects", "gc.get_referrers", "gc.get_referents", "gc.isenabled"),
    *("gc.get_threshold", "gc.get_count", "gc.get_debug", "gc.get_stats", "gc.freeze"),
    *("gc.enable", "gc.disable", "gc.is_tracked", "gc.is_finalized"),
    *("sys.getsizeof", "sys.getrefcount", "sys.getallocatedblocks", "sys._current_frames"),
    *("time.perf_counter", "time.thread_time", "os.lseek", "os.sched_getaffinity"),
]
OF_BUILTINS = ["abs", "ascii", "bin", "divmod", "format", "hex", "oct", "pow", "round", "sum"]
RAISING = """
import builtins, gc, os, sys, time
def refuses(*args, **kwargs): raise RuntimeError("replaced")
for module, name in {places}:
    setattr(sys.modules[module], name, refuses)
"""
# Every function of the builtins but those that look at their caller.
COUNTING = """
import builtins, gc, os, sys, time, types
calls = {}
def counted(name, function, getframe=sys._getframe):
    def count(*args, **kwargs):
        file = getframe(1).f_code.co_filename
        if "/xleak/" in file and not file.endswith("__main__.py"):
            calls[name, file] = calls.get((name, file), 0) + 1
        return function(*args, **kwargs)
    return count
about_their_caller = {"locals", "globals", "vars", "dir", "eval", "exec", "__build_class__"}
for module in (builtins, gc):
    for name, function in list(vars(module).items()):
        if type(function) is types.BuiltinFunctionType and name not in about_their_caller:
            setattr(module, name, counted(f"{module.__name__}.{name}", function))
for place in PLACES:
    module, _, name = place.partition(".")
    if module != "gc":
        setattr(sys.modules[module], name, counted(place, getattr(sys.modules[module], name)))
"""
PLAIN = [
    "x = 1",
    "x",
    "y = bytearray(40 << 20)\nmemoryview(y)",
    "del y",
    "print(x)",
    "1 / 0",
    "!true",
]
MAGICS = [
    "%memreport",
    "%memreport z",
    "%leakcheck",
    "%leakcheck --notes",
    "%xdel z",
    "%release_cache",
    "%xleak journal",
    "%xleak env",
    "%%leakcheck\nw = bytearray(20 << 20)",
]


def ran_cleanly(session: Session, cell: str) -> None:
    ran = session.run(cell)
    assert ran.content["status"] == "ok", ran.content
    assert ran.text("stderr") == ""


def replace(session: Session) -> None:
    """Puts functions that raise in the places of Python's."""
    places = [tuple(it.split(".")) for it in OF_MODULES]
    places += [("builtins", it) for it in OF_BUILTINS]
    session.run(RAISING.format(places=places))


@pytest.mark.parametrize("way", WAYS)
def test_magics_and_findings_are_as_ever_where_functions_raise(way: str) -> None:
    with session_of(way) as session:
        replace(session)
        session.run("z = bytearray(40 << 20)")
        shown = session.run("value = bytearray(40 << 20)\nmemoryview(value)")
        session.run("del value")
        assert f"Out[{shown.content['execution_count']}]" in session.findings()
        for magic in MAGICS:
            ran_cleanly(session, magic)


@pytest.mark.parametrize("way", WAYS)
def test_no_function_of_the_program_s_is_called_by_xleak(way: str) -> None:
    with session_of(way) as session:
        ran = session.run(COUNTING.replace("PLACES", repr(OF_MODULES)))
        assert ran.content["status"] == "ok", ran.content
        for cell in PLAIN:
            session.run(cell)
        session.settle()
        session.run("z = bytearray(40 << 20)")
        for magic in MAGICS:
            ran_cleanly(session, magic)
        assert session.ask("calls") == {}


@pytest.mark.parametrize("way", WAYS)
def test_modules_of_xleak_that_come_later_have_functions_of_their_own_too(way: str) -> None:
    with session_of(way) as session:
        replace(session)
        session.run("import xleak.watching.causes as later")
        assert session.value("later.__builtins__['sum'] is refuses") == "False"


COLLECTIONS = """
import gc
collected = []
gc.collect()
gc.callbacks.append(lambda phase, info: collected.append((phase, info["generation"])))
before = [it["collections"] for it in gc.get_stats()]
"""


def collections(session: Session) -> Any:
    """The collections that plain cells led to: by Python's own count, and by a callback's."""
    session.run(COLLECTIONS)
    for _ in range(40):
        session.run("x = [[] for _ in range(300)]")
    counted = "[it['collections'] - n for it, n in zip(gc.get_stats(), before)]"
    return session.ask(counted), session.ask("len(collected)")


@pytest.mark.parametrize("way", WAYS)
def test_plain_cells_lead_to_no_more_collections_than_without_xleak(way: str) -> None:
    counts, called = ran_in(way, collections)
    expected, expected_calls = ran_in("plain", collections)
    assert counts[1:] <= expected[1:]
    assert abs(counts[0] - expected[0]) <= 1
    assert called <= expected_calls + 2
