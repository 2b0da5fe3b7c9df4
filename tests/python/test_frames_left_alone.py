"""To tell which local of a frame keeps an object leaves nothing in the frame."""

from __future__ import annotations

import gc
import traceback
import weakref

from shells import Session
from xleak.shell.heap import take_snapshot

# What IPython prints asks for the locals itself.
FAIL = """
import weakref
class Box: pass
def fail():
    global seen
    big, small = Box(), 1
    seen = weakref.ref(big)
    1 / 0
try: fail()
except ZeroDivisionError as error: kept = error
"""


def way_to_local(session: Session) -> str:
    heap = take_snapshot(session.watcher)
    assert heap is not None
    return heap.way_to(session.shell.user_ns["seen"]())


def test_frames_that_are_cleared_let_go_of_a_local_that_was_told(session: Session) -> None:
    session.run(FAIL)
    assert way_to_local(session).endswith(".f_locals['big']")
    traceback.clear_frames(session.shell.user_ns["kept"].__traceback__)
    assert session.shell.user_ns["seen"]() is None


def test_locals_that_were_asked_for_before_stay_as_they_were(session: Session) -> None:
    session.run(FAIL)
    names = session.shell.user_ns
    shown = names["kept"].__traceback__.tb_next.tb_frame.f_locals
    shown["more"], shown["small"] = 1, 2
    assert way_to_local(session)
    assert list(shown) == ["big", "small", "more"]
    assert shown["small"] == 2


def test_a_look_at_the_heap_keeps_no_function_that_asked_for_it(session: Session) -> None:
    class Local:
        pass

    def look() -> weakref.ref[Local]:
        local = Local()
        heap = take_snapshot(session.watcher)
        assert heap is not None
        return weakref.ref(local)

    gc.disable()
    try:
        assert look()() is None
    finally:
        gc.enable()
