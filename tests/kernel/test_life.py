"""Interrupts, signals, asyncio, input, shutdown: the kernel as a process."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from harness import PYTHON, TIMEOUT, Session, XleakManager


def wait_for_line(session: Session, text: str) -> None:
    while True:
        message = session.client.get_iopub_msg(timeout=TIMEOUT)
        if message["msg_type"] == "stream" and text in message["content"]["text"]:
            return


@pytest.mark.parametrize(
    "body",
    [
        "import time; STARTED; time.sleep(60)",
        "STARTED\nwhile True: pass",
        "import torch\nx = torch.ones(64, 64)\nSTARTED\nwhile True: x = x @ x * 0.01",
        "import asyncio; STARTED; await asyncio.sleep(60)",
        "import subprocess; STARTED; subprocess.run(['sleep', '60'])",
        "STARTED; input('never answered')",
    ],
    ids=["sleep", "python loop", "torch loop", "await", "child process", "input"],
)
@pytest.mark.parametrize("by", ["signal", "message"])
def test_an_interrupt_stops_a_cell_within_a_second(kernel: Session, body: str, by: str) -> None:
    msg_id = kernel.send(body.replace("STARTED", "print('started', flush=True)"), allow_stdin=True)
    wait_for_line(kernel, "started")
    time_asked = time.monotonic()
    if by == "signal":
        kernel.manager.interrupt_kernel()
    else:
        kernel.request("interrupt_request", channel="control")
    assert kernel.wait(msg_id).content["ename"] == "KeyboardInterrupt"
    assert time.monotonic() - time_asked < 1.0
    assert kernel.value("1 + 1") == "2"


def test_interrupts_never_end_an_idle_kernel(kernel: Session) -> None:
    for _ in range(5):
        kernel.manager.interrupt_kernel()
        kernel.request("interrupt_request", channel="control")
    ran = kernel.run("'alive'")
    assert ran.value == "'alive'"


def test_a_handler_of_the_users_runs_while_the_kernel_is_idle_and_does_not_end_it(
    kernel: Session,
) -> None:
    kernel.run(
        "import os, signal\n"
        "fired = []\n"
        "signal.signal(signal.SIGUSR1, lambda *a: fired.append(1))\n"
        "signal.signal(signal.SIGUSR2, lambda *a: 1/0);"
    )
    pid = int(kernel.value("os.getpid()"))
    os.kill(pid, signal.SIGUSR1)
    os.kill(pid, signal.SIGUSR2)
    assert kernel.value("fired") == "[1]"


def test_a_sigint_handler_of_the_users_is_his_in_and_between_cells(fresh_kernel: Session) -> None:
    kernel = fresh_kernel
    kernel.run(
        "import signal\ncaught = []\nmine = lambda *a: caught.append(1)\nsignal.signal(signal.SIGINT, mine);"
    )
    kernel.manager.interrupt_kernel()
    assert kernel.value("caught") == "[1]"
    assert kernel.value("signal.getsignal(signal.SIGINT) is mine") == "True"


def test_tasks_go_on_between_cells(kernel: Session) -> None:
    kernel.run(
        "import asyncio\n"
        "ticks = []\n"
        "async def tick():\n"
        "    while len(ticks) < 5:\n"
        "        ticks.append(1)\n"
        "        await asyncio.sleep(0.01)\n"
        "task = asyncio.create_task(tick())"
    )
    deadline = time.monotonic() + TIMEOUT
    while kernel.value("task.done()") != "True":
        assert time.monotonic() < deadline
    assert kernel.value("len(ticks)") == "5"


def test_the_loop_is_running_in_cells_and_context_variables_last(kernel: Session) -> None:
    assert kernel.value("asyncio.get_running_loop().is_running()") == "True"
    kernel.run("import contextvars\nv = contextvars.ContextVar('v')\nv.set(5);")
    assert kernel.value("v.get()") == "5"
    assert kernel.value("await asyncio.sleep(0, 'awaited')") == "'awaited'"


@pytest.mark.parametrize(
    ("ask", "secret"),
    [("input('name? ')", False), ("__import__('getpass').getpass('name? ')", True)],
)
def test_input_and_getpass_ask_the_front_end(fresh_kernel: Session, ask: str, secret: bool) -> None:
    kernel = fresh_kernel
    msg_id = kernel.send(f"answer = {ask}", allow_stdin=True)
    question = kernel.client.get_stdin_msg(timeout=TIMEOUT)["content"]
    assert question == {"prompt": "name? ", "password": secret}
    kernel.client.input("Ada")
    assert kernel.wait(msg_id).content["status"] == "ok"
    assert kernel.value("answer") == "'Ada'"


def test_input_without_a_front_end_that_can_answer_is_an_error(kernel: Session) -> None:
    assert kernel.run("input()", allow_stdin=False).content["ename"] == "StdinNotImplementedError"


def test_debug_after_an_error_prompts_in_the_frame(fresh_kernel: Session) -> None:
    kernel = fresh_kernel
    kernel.run("def f():\n    inner = 41\n    return inner / 0\nf()")
    msg_id = kernel.send("%debug", allow_stdin=True)
    for line in ("p inner + 1", "q"):
        assert "ipdb" in kernel.client.get_stdin_msg(timeout=TIMEOUT)["content"]["prompt"]
        kernel.client.input(line)
    assert "42" in kernel.wait(msg_id).text()


@pytest.mark.parametrize("command", ["exit", "quit()", "get_ipython().ask_exit()"])
def test_exit_ends_the_session(start_kernel: Callable[..., Session], command: str) -> None:
    session = start_kernel()
    payload = session.run(command).content["payload"]
    assert payload == [{"source": "ask_exit", "keepkernel": False}]
    assert session.process.wait(TIMEOUT) == 0


def launch(tmp_path: Path, code: str) -> tuple[Session, Path]:
    """A kernel whose terminal output is a file, and a client after `code` ran."""
    manager = XleakManager()
    log = tmp_path / "terminal.txt"
    with log.open("wb") as terminal:
        manager.start_kernel(stdout=terminal, stderr=terminal)
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT)
    session = Session(manager, client)
    assert session.run(code).content["status"] == "ok"
    return session, log


@pytest.mark.parametrize("restart", [False, True])
def test_shutdown_runs_atexit_and_leaves_nothing(tmp_path: Path, restart: bool) -> None:
    mark = tmp_path / "atexit.txt"
    session, log = launch(
        tmp_path, f"import atexit\natexit.register(lambda: open({str(mark)!r}, 'w').write('ran'));"
    )
    process = psutil.Process(session.process.pid)
    reply = session.request("shutdown_request", {"restart": restart}, channel="control")
    assert reply["content"] == {"status": "ok", "restart": restart}
    assert session.process.wait(TIMEOUT) == 0
    assert not process.is_running()
    assert mark.read_text() == "ran"
    assert log.read_text() == ""
    session.client.stop_channels()
    session.manager.cleanup_resources()


def test_a_kernel_restarts_in_place(fresh_kernel: Session) -> None:
    kernel = fresh_kernel
    kernel.run("x = 1")
    kernel.manager.restart_kernel()
    kernel.client.wait_for_ready(timeout=TIMEOUT)
    assert kernel.run("x").content["ename"] == "NameError"


def test_a_missing_connection_file_is_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [PYTHON, "-m", "xleak.kernel", "-f", str(tmp_path / "none.json")],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1 and "connection file" in done.stderr
