"""Objects that raise when they are touched are watched and deleted like any other."""

from __future__ import annotations

import sys
import threading

import pytest
from shells import MIB, Session

HOSTILE = """
class Hostile:
    def __init__(self): object.__setattr__(self, "payload", bytearray(4 << 20))
    def _refuse(self, *args):
        # IPython itself asks a lot before it shows a value.
        if not armed: raise AttributeError
        touched.append(1)
        raise RuntimeError("touched")
    __eq__ = __len__ = __iter__ = __getattr__ = __sizeof__ = __bool__ = __contains__ = _refuse
    __str__ = __format__ = __dir__ = __reduce_ex__ = __getitem__ = __setattr__ = _refuse
    __hash__ = _refuse
    __class__ = property(_refuse)
    def __repr__(self): return "hostile"
touched, armed = [], []
"""


def test_a_hostile_value_leaks_and_is_deleted_untouched(session: Session) -> None:
    session.run(HOSTILE)
    session.run("x = Hostile()")
    session.run("x")
    session.run("armed.append(1); del x")
    assert [4 * MIB <= size < 5 * MIB for size in session.leaks().values()] == [True]
    session.run(f"%xdel --dry-run {session.entry()}")
    session.run(f"%xdel {session.entry()}")
    assert session.leaks() == {}
    assert session.shell.user_ns["touched"] == []


def test_a_name_of_a_hostile_value_is_deleted_untouched(session: Session) -> None:
    session.run(HOSTILE)
    session.run("x = Hostile(); other = Hostile(); box = [Hostile()]")
    session.run("armed.append(1)")
    assert session.run("%xdel x")
    assert session.shell.user_ns["touched"] == []
    assert "x" not in session.shell.user_ns


def test_a_destructor_that_raises_fails_no_cell(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda it: raised.append(str(it.exc_value)))
    session.run("class Loud:\n    def __del__(self): raise ValueError('loud')")
    session.run("Loud()")
    assert session.run(f"%xdel {session.entry()}")
    assert raised == ["loud"]


def test_a_list_nested_half_a_million_times_needs_no_deep_stack(session: Session) -> None:
    session.run("x = []\nfor _ in range(500_000): x = [x]\nbox = [x]")
    session.shell.user_ns["Out"][7] = session.shell.user_ns["box"]
    session.run("del x, box")
    session.watcher.refresh()
    assert list(session.leaks()) == ["Out[7]"]
    assert session.run("%xdel Out[7]")


def test_a_type_name_of_the_user_s_making_is_text(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.watcher.settings.notice_bytes = MIB
    session.run("T = type('<b>x\\x1b[31m', (), {})\nt = T(); t.p = memoryview(bytearray(4 << 20))")
    session.run("t")
    capsys.readouterr()
    session.run("del t")
    assert "\x1b" not in capsys.readouterr().out


def test_threads_that_change_lists_meanwhile_do_no_harm(session: Session) -> None:
    stop = threading.Event()

    def churn(lists: list[list[object]]) -> None:
        while not stop.is_set():
            for items in lists:
                items.append([1])
                if len(items) > 50:
                    items.clear()

    lists: list[list[object]] = [[] for _ in range(100)]
    thread = threading.Thread(target=churn, args=(lists,))
    thread.start()
    try:
        session.shell.user_ns["Out"][7] = [lists, memoryview(bytearray(4 << 20))]
        for _ in range(20):
            assert session.run("x = []")
    finally:
        stop.set()
        thread.join()
    assert session.watcher.findings()[0].key == "Out[7]"


def test_a_failure_of_xleak_is_said_once_and_fails_no_cell(
    session: Session, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> bool:
        raise RuntimeError("out of order")

    session.run("'shown'")
    monkeypatch.setattr(session.watcher.caches, "moved", broken)
    assert session.run("x = 1")
    assert session.run("x = 2")
    assert capsys.readouterr().err.count("out of order") == 1
