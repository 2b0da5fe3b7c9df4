"""What a process and its registries keep: counted after each cell, told without a touch."""

from __future__ import annotations

import gc
import logging
import subprocess
import threading
import time
import weakref

from shells import Session
from xleak import _native
from xleak.shell.holders.counts import Counts, reruns
from xleak.shell.notice import notice_text

HOSTILE = """
import concurrent.futures, logging, threading
touched, armed = [], []
def refuse(self, *args):
    if armed: touched.append(args)
    return object.__getattribute__(self, *args)
def raising(self, *args):
    if armed: touched.append(args)
    raise RuntimeError("touched")
wild = dict(__getattribute__=refuse, __eq__=raising, __hash__=raising, __len__=raising,
            __iter__=raising, __bool__=raising, __repr__=raising)
Handler = type("Handler", (logging.NullHandler,), wild)
Future = type("Future", (concurrent.futures.Future,), wild)
class Thread(threading.Thread):
    __eq__ = __len__ = __bool__ = __repr__ = raising
    __hash__ = object.__hash__
    name = property(raising)
    def run(self): gate.wait()
gate = threading.Event()
def attach():
    # As addHandler() does it, but for asking whether it is there.
    logging.getLogger("hostile").handlers.append(Handler())
"""


def test_hostile_handlers_and_futures_are_judged_untouched(session: Session) -> None:
    session.run(HOSTILE)
    session.run("job = Future(); job.set_result(bytearray(3 << 20))\njobs = [job]; del job")
    session.run("read = [job.result() for job in jobs]; del read, job")
    for _ in range(2):
        assert session.run("attach()")
    session.run("armed.append(1); label = 'armed'")
    session.watcher.refresh()
    found = {finding.code for finding in _native.findings()}
    assert found == {"XL406", "XL413"}
    assert session.shell.user_ns["touched"] == []
    session.run("armed.clear(); gate.set()")


def test_a_thread_of_a_hostile_class_is_told_by_its_class(session: Session) -> None:
    session.run(HOSTILE)
    for _ in range(2):
        session.run("thread = Thread(daemon=True); thread.start(); armed.append(1)")
        session.run("armed.clear()")
    session.watcher.refresh()
    assert [finding.key for finding in _native.findings()] == ["thread Thread"]
    assert session.shell.user_ns["touched"] == []
    session.run("gate.set(); thread.join()")


def test_what_is_new_belongs_to_the_cell_that_ended() -> None:
    counts = Counts()
    handler, gate = logging.NullHandler(), threading.Event()
    thread = threading.Thread(target=gate.wait)
    thread.start()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        counts.after_cell(4, "start()")
        counts.after_cell(5, "later()")
        assert counts.cell_of(handler) == counts.cell_of(thread) == 4
        assert counts.cell_of_process(child.pid) == 4
        assert counts.cell_of(threading.current_thread()) == 0
    gate.set()
    thread.join()


def test_only_a_second_run_of_the_same_code_is_a_repetition() -> None:
    counts = Counts()
    kept = [logging.NullHandler()]
    assert not counts.after_cell(1, "add()  # once")
    kept.append(logging.NullHandler())
    assert not counts.after_cell(2, "add_another()")
    kept.append(logging.NullHandler())
    assert counts.after_cell(3, "# %% again\nadd()  # once\n")
    assert not counts.after_cell(4, "print()")


def test_a_handler_that_was_counted_can_go() -> None:
    counts = Counts()
    handler = logging.NullHandler()
    gone = weakref.ref(handler)
    counts.after_cell(1, "add()")
    del handler
    gc.collect()
    assert gone() is None


def test_runs_of_one_cell_leave_all_but_the_latest_to_be_stopped() -> None:
    sources = {1: "run()", 2: "other()", 3: "run()  ", 4: "# note\nrun()"}
    again = reruns([("a", 1), ("b", 2), ("c", 3), ("d", 4), ("unknown", 0)], sources)
    assert again is not None
    assert (again.left, again.earlier, again.since_cell) == (["a", "c", "d"], ["a", "c"], 1)
    assert reruns([("a", 1), ("b", 2), ("both of one run", 1)], sources) is None


def test_the_notice_offers_no_fix_where_there_is_none_and_no_bytes_where_they_are_unknown() -> None:
    hook = _native.Holder("exit hooks", "atexit: Rig.flush", 8 << 20, None, "Rig.flush", 1, "")
    handlers = _native.Holder("handlers", "root.handlers", 0, 1, "StreamHandler", 2, "remove()")
    _native.judge(1, [], [hook, handlers])
    text = notice_text(_native.findings())
    _native.judge(1, [], [])
    assert text == (
        "xleak XL406, XL408: 8 MiB that no name reaches, kept by atexit: Rig.flush 8 MiB. "
        "`%leakcheck` lists them."
    )


def test_to_count_after_a_cell_that_added_nothing_takes_microseconds() -> None:
    counts = Counts()
    times = []
    for index in range(200):
        start = time.perf_counter()
        counts.after_cell(index, "x = 1")
        times.append(time.perf_counter() - start)
    assert min(times) < 50e-6
