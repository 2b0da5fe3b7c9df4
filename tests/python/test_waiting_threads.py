"""Threads that nobody can wake any more."""

from __future__ import annotations

import threading

import pytest
from shells import MIB, Session

START = """
import threading, time
import numpy as np
from queue import Queue
def fetch(queue):
    for number in range(20):
        queue.put(np.full(1 << 17, float(number)))
def follow(queue):
    while len(leave) == 0:
        time.sleep(0.01)
def begin(work, *given):
    threading.Thread(target=work, args=given, daemon=True).start()
leave = []
def left_early():
    queue = Queue(3)
    begin(fetch, queue)
    queue.get()
    return queue
def is_full(queue):
    while not queue.full():
        time.sleep(0.01)
"""
LEFT = "is_full(left_early())"
END = """
for queue in [it.f_locals.get("queue") for it in __import__("sys")._current_frames().values()]:
    while queue and not queue.empty():
        queue.get(timeout=5)
leave.append(1)
"""


def reported(session: Session, *cells: str) -> dict[str, tuple[int, str]]:
    for cell in cells:
        assert session.run(cell)
    session.shell.run_line_magic("leakcheck", "")
    found = [it for it in session.watcher.findings() if "for ever" in it.message]
    return {it.key: ((it.bytes or 0) // MIB, it.fixes[0].code) for it in found}


def test_one_whose_queue_no_name_has_is_reported_until_it_ends(session: Session) -> None:
    before = threading.active_count()
    [(label, (size, repair))] = reported(session, START, LEFT, "print('on')").items()
    # What is in the queue: of a running function's own variables the heap shows nothing.
    assert (label, size) == ("thread fetch", 3)
    assert threading.active_count() == before + 1
    assert reported(session, repair, "print('on')") == {}
    assert threading.active_count() == before


def test_several_are_one_finding(session: Session) -> None:
    cells = [START, LEFT, LEFT, "print('on')"]
    [(label, (size, repair))] = reported(session, *cells).items()
    assert (label, size) == ("thread fetch and 1 other", 6)
    assert reported(session, repair) == {}


@pytest.mark.parametrize(
    "cell",
    [
        "q = left_early(); is_full(q)",
        "q = left_early(); is_full(q); begin(follow, q); del q",
        "begin(lambda: Queue().get(timeout=600))",
    ],
    ids=["a name has the queue", "another thread has it", "a timeout"],
)
def test_what_can_still_end_is_silent(session: Session, cell: str) -> None:
    assert reported(session, START, cell, "print('on')") == {}
    session.run(END)
