"""What is told of a cell while it runs. Minutes are seconds here."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from harness import TIMEOUT, Message, Session

LONG_CELLS = "__import__('xleak.shell.holders.long_cells').shell.holders.long_cells.__dict__"
SECONDS = {"LONG_SECONDS": 2.0, "WINDOW_SECONDS": 1.0}
WATCHER = "__import__('xleak.shell.watcher').shell.watcher.watcher()"
CALL = "__import__('xleak')._native.call_while_running"
GROWING = """
import itertools
kept = []
def fill():
    for number in itertools.count():
        kept.append(bytearray(1 << 17))
        sum(range(200_000))
"""


@pytest.fixture
def kernel(kernel: Session) -> Iterator[Session]:
    before = kernel.ask(f"{{name: {LONG_CELLS}[name] for name in {list(SECONDS)}}}")
    kernel.ask(f"{LONG_CELLS}.update({SECONDS})")
    kernel.ask(f"{CALL}({WATCHER}.while_running, 0.2)")
    yield kernel
    kernel.ask(f"{LONG_CELLS}.update({before})")
    kernel.ask(f"{CALL}({WATCHER}.while_running, 30.0)")


def notice(message: Message) -> str:
    known = message["msg_type"] in ("display_data", "update_display_data")
    return str(message["content"]["data"]["text/plain"]) if known else ""


def test_a_loop_without_a_way_out_that_grows_is_told_while_it_runs(kernel: Session) -> None:
    kernel.run(GROWING)
    running = kernel.send("fill()")
    deadline = time.monotonic() + TIMEOUT
    told = ""
    while "XL303" not in told:
        told = notice(kernel.client.get_iopub_msg(timeout=deadline - time.monotonic()))
    assert "has run for 0 min without a way out" in told
    assert " a minute: " in told
    kernel.manager.interrupt_kernel()
    assert kernel.wait(running).content["ename"] == "KeyboardInterrupt"
    assert "XL303" not in [it["code"] for it in kernel.findings().values()]
    # Nothing of it was lost, and nothing of xleak's is in the way.
    assert int(kernel.value("len(kept)")) > 0
    kernel.run("del kept, fill")


@pytest.mark.parametrize(
    "cell",
    [
        "start = time.monotonic(); kept = []\n"
        "while time.monotonic() - start < 4:\n    kept.append(bytearray(1 << 17)); sum(range(200_000))",
        "start = time.monotonic(); steps = []\n"
        "for number in itertools.count():\n"
        "    steps[:] = [number]\n"
        "    sum(range(200_000)) if time.monotonic() - start < 4 else 1 / 0",
    ],
    ids=["grows, but ends", "does not grow"],
)
def test_a_long_cell_is_not_told(kernel: Session, cell: str) -> None:
    kernel.run("import itertools, time")
    ran = kernel.run(cell)
    assert not any("XL303" in notice(message) for message in ran.outputs)


def test_what_a_handler_of_the_users_raises_meanwhile_is_the_cells(kernel: Session) -> None:
    kernel.run(
        "import signal, time\n"
        "def late(number, frame): raise TimeoutError('late')\n"
        "before = signal.signal(signal.SIGALRM, late)"
    )
    # Its way to look at the cell is where the signal comes.
    kernel.ask(
        f"setattr({WATCHER}._holders, 'while_running', "
        "lambda shell: __import__('signal').raise_signal(14))"
    )
    start = time.monotonic()
    ran = kernel.run(f"end = time.monotonic() + {TIMEOUT}\nwhile time.monotonic() < end: pass")
    assert (ran.content["ename"], ran.content["evalue"]) == ("TimeoutError", "late")
    assert time.monotonic() - start < TIMEOUT
    assert "xleak" not in ran.text()
    kernel.ask(f"delattr({WATCHER}._holders, 'while_running')")
    kernel.run("signal.signal(signal.SIGALRM, before); del late, before, end")
