"""An interrupt stops the cell whose `execute_input` is out, however little of it runs, and no other."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from harness import TIMEOUT, Session

# Long enough that a test which has to wait for one of them fails.
BODIES = {
    "await": "import asyncio; await asyncio.sleep(600)",
    "queue": "import queue; queue.Queue().get(timeout=600)",
    "numpy": "import numpy\na = numpy.ones(9)\nwhile True: a = a + 1",
    "program": "!sleep 600",
}
WATCHER = "__import__('xleak.shell.watcher').shell.watcher.watcher()"
# Where the kernel stands still, by what it says next.
BEFORE_INPUT = (WATCHER, "about_to_run")
AFTER_INPUT = {
    "before the watcher": (WATCHER, "before_cell"),
    "before the task": ("get_ipython()._main_loop", "start"),
    "in its first step": ("get_ipython()", "transform_cell"),
    "in a callback of the user's": ("hooks", "before_code"),
}
AFTER_CODE = ("get_ipython()", "_reply")
AFTER_END = (WATCHER, "after_cell")

# Once: the next call of `owner.name` waits until the pipe `gate` was opened, and closed, by a writer.
HOLD = """
def hold(owner, name, gate):
    inner, own = getattr(owner, name), owner.__dict__.get(name)
    def held(*args, **options):
        owner.__dict__.pop(name) if own is None else owner.__dict__.update({name: own})
        with open(gate, "rb") as end:
            end.read()
        return inner(*args, **options)
    owner.__dict__[name] = held

class Hooks:
    def before_code(self): pass

hooks = Hooks()
get_ipython().events.register("pre_execute", lambda: hooks.before_code())
"""


@pytest.fixture(scope="module")
def kernel(kernel: Session) -> Session:
    kernel.run(HOLD)
    return kernel


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    path = tmp_path / "gate"
    os.mkfifo(path)
    return path


def hold(session: Session, place: tuple[str, str], gate: Path) -> None:
    """The next cell stands still there."""
    owner, name = place
    # An expression is what a request evaluates last, and such a request is no cell.
    assert session.ask(f"hold({owner}, {name!r}, {str(gate)!r})") is None


@contextmanager
def held(gate: Path) -> Iterator[None]:
    """The kernel stands still; what was signalled has arrived before it goes on."""
    with gate.open("wb"):
        yield


def interrupt(session: Session) -> None:
    os.kill(session.process.pid, signal.SIGINT)


def shown_count(session: Session, msg_id: str) -> int:
    """The number under which the front end hears that the cell runs."""
    while True:
        message = session.client.get_iopub_msg(timeout=TIMEOUT)
        if message["msg_type"] == "execute_input" and message["parent_header"]["msg_id"] == msg_id:
            return int(message["content"]["execution_count"])


@pytest.mark.parametrize("place", AFTER_INPUT)
@pytest.mark.parametrize("body", BODIES)
def test_what_comes_after_the_input_was_shown_interrupts_the_cell(
    kernel: Session, gate: Path, body: str, place: str
) -> None:
    hold(kernel, AFTER_INPUT[place], gate)
    msg_id = kernel.send(BODIES[body])
    count = shown_count(kernel, msg_id)
    with held(gate):
        interrupt(kernel)
    content = kernel.wait(msg_id).content
    assert (content["ename"], content["execution_count"]) == ("KeyboardInterrupt", count)
    assert not any("raise_late" in frame for frame in content["traceback"])
    assert kernel.value("1 + 1") == "2"


def test_what_comes_before_the_input_is_shown_interrupts_nothing(
    kernel: Session, gate: Path
) -> None:
    hold(kernel, BEFORE_INPUT, gate)
    msg_id = kernel.send("'ran'")
    with held(gate):
        interrupt(kernel)
    assert kernel.wait(msg_id).value == "'ran'"


@pytest.mark.parametrize(
    "place", [AFTER_CODE, AFTER_END], ids=["before its reply", "after its end"]
)
def test_what_comes_once_the_code_has_ended_interrupts_neither_it_nor_the_next_cell(
    kernel: Session, gate: Path, place: tuple[str, str]
) -> None:
    hold(kernel, place, gate)
    first, second = (
        kernel.send("'first'"),
        kernel.send("import asyncio; await asyncio.sleep(0, 'second')"),
    )
    with held(gate):
        interrupt(kernel)
    assert kernel.wait(first).value == "'first'"
    assert kernel.wait(second).value == "'second'"


def test_what_comes_before_an_expression_of_the_request_interrupts_the_request(
    kernel: Session, gate: Path
) -> None:
    hold(kernel, AFTER_CODE, gate)
    msg_id = kernel.send("1", user_expressions={"slow": "__import__('time').sleep(600)"})
    with held(gate):
        interrupt(kernel)
    assert kernel.wait(msg_id).content["ename"] == "KeyboardInterrupt"


def test_what_comes_before_the_handler_of_a_comm_interrupts_it(kernel: Session, gate: Path) -> None:
    kernel.run(
        "import comm, time\n"
        "comm.get_comm_manager().register_target('slow', lambda comm, message: time.sleep(600))"
    )
    hold(kernel, AFTER_INPUT["before the task"], gate)
    message = kernel.client.session.msg(
        "comm_open", {"comm_id": "slow", "target_name": "slow", "data": {}}
    )
    kernel.client.shell_channel.send(message)
    with held(gate):
        interrupt(kernel)
    assert kernel.value("1 + 1") == "2"


# The kernel stands still in one of Python's own hooks around a fork, which drops what is raised there.
HOLD_IN_HOOK = """
import logging
from xleak import _kernel
class Held:
    def __init__(self, lock, gate): self.lock, self.gate = lock, gate
    def acquire(self): self.lock.acquire()
    def _at_fork_reinit(self):
        logging._lock = self.lock
        self.lock._at_fork_reinit()
    def release(self):
        if not _kernel.is_forking(): return self.lock.release()
        logging._lock = self.lock
        with open(self.gate, "rb") as end:
            end.read()
        self.lock.release()
"""
AT_A_PROGRAMS_START = {
    "before it": "hold(__import__('pty'), 'fork', GATE)",
    "in a hook": "setattr(logging, '_lock', Held(logging._lock, GATE))",
}


def children(session: Session) -> list[psutil.Process]:
    found: list[psutil.Process] = psutil.Process(session.process.pid).children(recursive=True)
    return found


@pytest.mark.parametrize("place", AT_A_PROGRAMS_START)
def test_a_program_that_is_being_started_is_ended(kernel: Session, gate: Path, place: str) -> None:
    kernel.run("!true")
    kernel.run(HOLD_IN_HOOK)
    kernel.ask(AT_A_PROGRAMS_START[place].replace("GATE", repr(str(gate))))
    msg_id = kernel.send("!sleep 600")
    shown_count(kernel, msg_id)
    with held(gate):
        interrupt(kernel)
    # As IPython has it, the cell itself goes on.
    assert kernel.wait(msg_id).content["status"] == "ok"
    assert int(kernel.value("_exit_code")) != 0
    assert not [it for it in children(kernel) if it.status() != psutil.STATUS_ZOMBIE]


def test_what_comes_in_a_hook_of_a_fork_interrupts_what_follows(
    kernel: Session, gate: Path
) -> None:
    kernel.run(HOLD_IN_HOOK)
    kernel.ask(AT_A_PROGRAMS_START["in a hook"].replace("GATE", repr(str(gate))))
    msg_id = kernel.send("import os, time\nif os.fork() == 0: os._exit(0)\ntime.sleep(600)")
    with held(gate):
        interrupt(kernel)
    assert kernel.wait(msg_id).content["ename"] == "KeyboardInterrupt"
    assert kernel.value("1 + 1") == "2"
