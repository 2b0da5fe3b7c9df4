"""Interrupts, signals, asyncio, input, shutdown: the kernel as a process."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from harness import PYTHON, TIMEOUT, Session, XleakManager

pytestmark = pytest.mark.each_ipython

StartKernel = Callable[..., Session]


def wait_for_line(session: Session, text: str) -> str:
    """The message of output that has the text."""
    while True:
        message = session.client.get_iopub_msg(timeout=TIMEOUT)
        if message["msg_type"] == "stream" and text in message["content"]["text"]:
            return str(message["content"]["text"])


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


@pytest.mark.parametrize(
    "code",
    [
        "import asyncio; STARTED; await asyncio.sleep(60)",
        "import time; STARTED; time.sleep(60)",
        "STARTED\nwhile True: pass",
    ],
    ids=["await", "sleep", "python loop"],
)
def test_no_interrupt_is_lost_right_after_a_line_of_output(kernel: Session, code: str) -> None:
    for _ in range(20):
        msg_id = kernel.send(code.replace("STARTED", "print('started', flush=True)"))
        wait_for_line(kernel, "started")
        kernel.manager.interrupt_kernel()
        assert kernel.wait(msg_id, timeout=5).content["ename"] == "KeyboardInterrupt"


def test_the_traceback_of_an_interrupt_shows_no_frame_of_its_handler(kernel: Session) -> None:
    msg_id = kernel.send(
        "def spin():\n    print('started', flush=True)\n    while True: pass\nspin()"
    )
    wait_for_line(kernel, "started")
    kernel.manager.interrupt_kernel()
    traceback = kernel.wait(msg_id).content["traceback"]
    assert any("spin" in frame for frame in traceback)
    assert not any("interrupts.py" in frame for frame in traceback)


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
    wait_for_line(kernel, "ZeroDivisionError")
    assert kernel.value("fired") == "[1]"


def test_what_a_handler_raises_within_lines_of_xleaks_is_shown_as_the_users(
    kernel: Session,
) -> None:
    kernel.run(
        "import signal\n"
        "from xleak.shell.watcher import watcher\n"
        "def mine(*a): return 1 / 0\n"
        "signal.signal(signal.SIGUSR2, mine)\n"
        "def hit():\n"
        "    watcher().when_idle.remove(hit)\n"
        "    signal.raise_signal(signal.SIGUSR2)\n"
        "watcher().when_idle.append(hit)"
    )
    shown = wait_for_line(kernel, "ZeroDivisionError")
    assert "in mine" in shown
    assert "xleak" not in shown


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


def interrupt_until_answered(session: Session, msg_id: str) -> str:
    """Sends SIGINT again and again while one request is served; the status of its reply."""
    while True:
        os.kill(session.process.pid, signal.SIGINT)
        try:
            reply = session.client.get_shell_msg(timeout=0.001)
        except queue.Empty:
            assert session.process.poll() is None, "an interrupt ended the kernel"
            continue
        if reply["parent_header"]["msg_id"] == msg_id:
            return str(reply["content"].get("ename", reply["content"]["status"]))


@pytest.mark.parametrize("code", ["1", "import asyncio; await asyncio.sleep(0)"])
def test_every_request_is_answered_under_a_rain_of_interrupts(
    fresh_kernel: Session, code: str
) -> None:
    kernel = fresh_kernel
    ends = {interrupt_until_answered(kernel, kernel.send(code)) for _ in range(60)}
    assert ends <= {"ok", "KeyboardInterrupt"}
    assert kernel.value("'alive'") == "'alive'"


def test_a_handler_that_raises_again_and_again_does_not_end_an_idle_kernel(
    fresh_kernel: Session, tmp_path: Path
) -> None:
    kernel = fresh_kernel
    handled = tmp_path / "handled"
    os.mkfifo(handled)
    reader = os.open(handled, os.O_RDONLY | os.O_NONBLOCK)
    kernel.run(
        f"import os, signal\nhandled = os.open({str(handled)!r}, os.O_WRONLY)\n"
        "signal.signal(signal.SIGUSR1, lambda *a: os.write(handled, b'.') / 0);"
    )
    os.set_blocking(reader, True)
    for _ in range(200):
        os.kill(kernel.process.pid, signal.SIGUSR1)
        assert os.read(reader, 1) == b"."
    os.close(reader)
    kernel.run("signal.signal(signal.SIGUSR1, signal.SIG_IGN);")
    assert kernel.value("'alive'") == "'alive'"


def test_a_timer_at_a_kilohertz_disturbs_neither_idle_nor_input(fresh_kernel: Session) -> None:
    kernel = fresh_kernel
    kernel.run(
        "import signal\nticks = []\nsignal.signal(signal.SIGALRM, lambda *a: ticks.append(1))\n"
        "signal.setitimer(signal.ITIMER_REAL, .001, .001);"
    )
    msg_id = kernel.send("answer = input('?')", allow_stdin=True)
    kernel.client.get_stdin_msg(timeout=TIMEOUT)
    kernel.client.input("Ada")
    assert kernel.wait(msg_id).content["status"] == "ok"
    assert kernel.value("answer, len(ticks) > 0") == "('Ada', True)"


def test_the_default_handler_set_by_a_cell_does_not_let_an_interrupt_end_the_idle_kernel(
    fresh_kernel: Session,
) -> None:
    fresh_kernel.run("import signal; signal.signal(signal.SIGINT, signal.SIG_DFL);")
    fresh_kernel.manager.interrupt_kernel()
    assert fresh_kernel.value("'alive'") == "'alive'"


def test_a_task_that_exits_ends_neither_the_cell_nor_the_kernel(kernel: Session) -> None:
    ran = kernel.run(
        "import asyncio\nasync def leave(): raise SystemExit(4)\n"
        "task = asyncio.create_task(leave())\nawait asyncio.wait([task])\n'went on'"
    )
    assert ran.value == "'went on'"
    assert "SystemExit" in ran.text("stderr")


def test_the_end_of_input_is_an_eof_error(fresh_kernel: Session) -> None:
    msg_id = fresh_kernel.send("input()", allow_stdin=True)
    fresh_kernel.client.get_stdin_msg(timeout=TIMEOUT)
    fresh_kernel.client.input("\x04")
    assert fresh_kernel.wait(msg_id).content["ename"] == "EOFError"


def test_pdb_is_ipythons_debugger(fresh_kernel: Session) -> None:
    msg_id = fresh_kernel.send("import pdb\npdb.set_trace()\nx = 1", allow_stdin=True)
    question = fresh_kernel.client.get_stdin_msg(timeout=TIMEOUT)["content"]
    assert question["prompt"] == "ipdb> "
    fresh_kernel.client.input("c")
    assert fresh_kernel.wait(msg_id).content["status"] == "ok"


def test_user_expressions_can_be_interrupted(kernel: Session) -> None:
    msg_id = kernel.send(
        "import time; print('started', flush=True)",
        user_expressions={"slow": "[print('slow', flush=True), time.sleep(60)]"},
    )
    wait_for_line(kernel, "slow")
    kernel.manager.interrupt_kernel()
    slow = kernel.wait(msg_id).content["user_expressions"]["slow"]
    assert slow["ename"] == "KeyboardInterrupt"


def test_shutdown_ends_the_programs_that_cells_left_running(start_kernel: StartKernel) -> None:
    session = start_kernel()
    code = (
        "import subprocess as s\n"
        "a = s.Popen(['sleep', '600'])\n"
        "b = s.Popen(['sh', '-c', 'trap \"\" TERM; while :; do sleep 0.1; done'])\n"
        "c = s.Popen(['sleep', '600'], start_new_session=True)\n"
    )
    session.run(code)
    ended, stubborn, apart = (
        psutil.Process(int(session.value(f"{name}.pid"))) for name in ("a", "b", "c")
    )
    session.request("shutdown_request", {"restart": False}, channel="control")
    assert session.process.wait(TIMEOUT) == 0
    psutil.wait_procs([ended, stubborn], timeout=TIMEOUT)
    assert not ended.is_running() and not stubborn.is_running()
    assert apart.is_running()
    apart.kill()


def test_a_kernel_that_cannot_start_says_why(tmp_path: Path) -> None:
    connection = tmp_path / "connection.json"
    connection.write_text("{}")
    done = subprocess.run(
        [PYTHON, "-m", "xleak.kernel", "-f", str(connection)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1 and "connection file" in done.stderr
