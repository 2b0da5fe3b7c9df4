"""Memory that gets short, for real: in a cgroup with a limit, or under an RLIMIT."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import PYTHON, TIMEOUT, Session, start, stop
from limited import MemoryGroup

MIB = 1 << 20
LIMIT = 512 * MIB
LEVEL = "[it.level for it in __import__('xleak')._native.limits() if it.limit == '{limit}'][0]"
# So slow that a loaded machine sees it coming.
GROW = """
def grow(kept, most):
    while len(kept) < most:
        kept.append(b"x" * (1 << 20))
        sum(range(100_000))
"""
# What a kernel takes itself differs, and what it needs after a cell: none fills the group by a fixed size.
FILL = """
def fill(kept):
    grow(kept, 380)
    while {level} != 'critical':
        grow(kept, len(kept) + 1)
        time.sleep(0.03)
"""
# Another program, which takes memory until a file is there and then keeps it until its input ends.
GREEDY = """
import os, sys, time
held = [b"x" * (380 << 20)]
while not os.path.exists(sys.argv[1]):
    held.append(b"x" * (1 << 20))
    time.sleep(0.03)
sys.stdin.read()
"""

StartIn = Callable[..., Session]


@pytest.fixture
def group() -> Iterator[MemoryGroup]:
    try:
        made = MemoryGroup("guard", LIMIT)
    except (OSError, KeyError) as error:
        pytest.skip(f"no memory cgroup may be made here: {error}")
    yield made
    made.remove()


@pytest.fixture
def start_in(group: MemoryGroup, tmp_path: Path) -> Iterator[StartIn]:
    """Starts a kernel in the cgroup, with a policy of the guard."""
    started: list[Session] = []

    def starter(guard: str, **env: str) -> Session:
        program = group.program(tmp_path, PYTHON)
        started.append(start({"XLEAK_GUARD": guard, **env}, program))
        started[-1].run("import time" + GROW + FILL.format(level=LEVEL.format(limit="cgroup")))
        return started[-1]

    yield starter
    for session in started:
        stop(session)


def await_level(limit: str, level: str) -> str:
    """Code that runs until the guard has seen a level; it ends with the test otherwise."""
    return f"while {LEVEL.format(limit=limit)} != {level!r}: pass"


def test_a_cell_that_takes_nearly_all_memory_is_stopped_and_the_session_goes_on(
    start_in: StartIn,
) -> None:
    kernel = start_in("interrupt")
    kernel.run("before = [1, 2, 3]; kept = []")
    ran = kernel.run("grow(kept, 4000)")
    assert ran.content["ename"] == "MemoryGuardError"
    message = ran.content["evalue"]
    assert "of the 512 MiB that this process's cgroup allows are in use" in message
    assert "this cell has grown by" in message
    assert "`kept` (0 to " in message
    # The frames are the user's alone.
    assert "xleak/" not in "".join(ran.content["traceback"])
    assert kernel.value("before, len(kept) > 300") == "([1, 2, 3], True)"
    kernel.run("del kept")
    kernel.run("%release_cache")
    again = kernel.run("kept = []; grow(kept, 100); len(kept)")
    assert again.value == "100"
    assert "nearly out" not in again.text("stderr")


def test_a_cell_that_catches_the_error_goes_on(start_in: StartIn) -> None:
    kernel = start_in("interrupt")
    ran = kernel.run(
        "import xleak\n"
        "kept, caught = [], []\n"
        "for attempt in range(2):\n"
        "    try:\n"
        "        grow(kept, 4000)\n"
        "    except MemoryError as error:\n"
        "        caught.append((type(error) is xleak.MemoryGuardError, error.limit))\n"
        "        assert error.limit_bytes > error.used_bytes > error.grown_bytes > 0\n"
        "        del error; kept.clear(); __import__('xleak')._native.trim_heap()\n"
        "caught"
    )
    assert ran.value == "[(True, 'cgroup'), (True, 'cgroup')]"


def test_an_approach_stops_a_cell_once(start_in: StartIn) -> None:
    kernel = start_in("interrupt")
    ran = kernel.run(
        "kept, stops = [], 0\n"
        "try:\n    grow(kept, 4000)\nexcept MemoryError:\n    stops += 1\n"
        "had = len(kept)\n"
        "grow(kept, had + 10)\n"
        "stops, len(kept) - had"
    )
    assert ran.value == "(1, 10)"


def test_a_cell_that_catches_every_exception_and_goes_on_is_ended_as_by_ctrl_c(
    start_in: StartIn,
) -> None:
    kernel = start_in("interrupt")
    ran = kernel.run(
        "kept, caught = [], []\n"
        "grow(kept, 250)\n"
        # Slower near the limit: between the two stops lie some 25 MiB.
        "def work():\n"
        "    while len(kept) < 4000:\n"
        "        grow(kept, len(kept) + 1); sum(range(2_000_000))\n"
        "while len(kept) < 4000:\n"
        "    try:\n"
        "        work()\n"
        "    except Exception as error:\n"
        "        caught.append(type(error).__name__)"
    )
    assert ran.content["ename"] == "KeyboardInterrupt"
    assert "MemoryGuardError did not end the cell" in ran.content["evalue"]
    assert "Memory is nearly out: " in "".join(ran.content["traceback"])
    assert kernel.value("caught") == "['MemoryGuardError']"


def test_a_cell_that_awaits_often_is_stopped_too(start_in: StartIn) -> None:
    kernel = start_in("interrupt")
    ran = kernel.run(
        "import asyncio\n"
        "kept = []\n"
        "while len(kept) < 4000:\n"
        "    grow(kept, len(kept) + 1); await asyncio.sleep(0)"
    )
    assert ran.content["ename"] == "MemoryGuardError"


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_function_under_watch_is_stopped_too(start_in: StartIn, kind: str) -> None:
    kernel = start_in("interrupt")
    call = "await work()" if kind == "async def" else "work()"
    ran = kernel.run(
        f"import xleak\nkept = []\n@xleak.watch\n{kind} work(): grow(kept, 4000)\n{call}"
    )
    assert ran.content["ename"] == "MemoryGuardError"


def test_memory_of_child_processes_is_said_to_be_theirs(start_in: StartIn) -> None:
    kernel = start_in("interrupt")
    ran = kernel.run(
        "import os, signal\n"
        "shared = b'x' * (100 << 20)\n"
        "end, ready = os.pipe(), os.pipe()\n"
        "workers = []\n"
        "for _ in range(2):\n"
        "    if (pid := os.fork()) == 0:\n"
        "        own = b'x' * (170 << 20); os.write(ready[1], b'x'); os.read(end[0], 1); os._exit(0)\n"
        "    workers.append(pid)\n"
        "    os.read(ready[0], 1)\n"
        f"{await_level('cgroup', 'critical')}\n"
        "os.write(end[1], b'xx')\n"
        "for pid in workers: os.waitpid(pid, 0)\n"
        "workers"
    )
    assert ran.content["status"] == "ok"
    [told] = re.findall(
        r"nearly out: .* (\d+) MiB, one of 2 child processes of this one, which hold (\d+) MiB\.",
        ran.text("stderr"),
    )
    # What they share with the kernel is the kernel's.
    assert 170 <= int(told[0]) < 220
    assert 340 <= int(told[1]) < 440


def test_the_policy_warn_says_each_level_once_and_stops_nothing(start_in: StartIn) -> None:
    kernel = start_in("warn")
    ran = kernel.run(
        "import contextlib, io\n"
        "kept = []; heard = io.StringIO()\n"
        "with contextlib.redirect_stderr(heard):\n"
        "    fill(kept)\n"
        "heard.getvalue()"
    )
    # What the cell does with its streams is its own affair.
    assert ran.value == "''"
    lines = [it for it in ran.text("stderr").splitlines() if it.startswith("xleak guard: ")]
    assert [line.split(":")[1] for line in lines] == [" Memory gets short", " Memory is nearly out"]
    assert "`kept` (0 to 4" in lines[1]
    assert "MemoryGuardError" not in ran.text("stderr")


def test_page_cache_is_no_memory_that_runs_out(
    start_in: StartIn, group: MemoryGroup, tmp_path: Path
) -> None:
    if "tmpfs" in subprocess.run(["df", "-T", tmp_path], capture_output=True, text=True).stdout:
        pytest.skip("files in tmp_path are memory here, not page cache")
    kernel = start_in("interrupt")
    ran = kernel.run(
        f"path = {str(tmp_path / 'large')!r}\n"
        "with open(path, 'wb') as file:\n"
        f"    for _ in range({3 * LIMIT // MIB}): file.write(b'x' * (1 << 20))\n"
        "for _ in range(2):\n"
        "    with open(path, 'rb') as file:\n"
        "        while file.read(1 << 20): pass"
    )
    assert ran.content["status"] == "ok"
    assert ran.text("stderr") == ""
    assert group.used_bytes > LIMIT * 9 // 10
    assert kernel.ask(LEVEL.format(limit="cgroup")) == "normal"


def test_memory_that_another_process_holds_stops_nothing_and_is_said_to_be_its(
    start_in: StartIn, group: MemoryGroup, tmp_path: Path
) -> None:
    kernel = start_in("interrupt")
    seen = str(tmp_path / "seen")
    running = kernel.send(f"{await_level('cgroup', 'critical')}\nopen({seen!r}, 'w').close()")
    greedy = subprocess.Popen(
        [group.program(tmp_path, sys.executable), "-c", GREEDY, seen], stdin=subprocess.PIPE
    )
    try:
        ran = kernel.wait(running, TIMEOUT)
        assert ran.content["status"] == "ok"
        assert re.search(rf"\(pid {greedy.pid}\) with \d\d\d MiB", ran.text("stderr"))
    finally:
        greedy.communicate()


def test_what_grows_beside_the_cells_is_not_interrupted(start_in: StartIn) -> None:
    kernel = start_in("interrupt")
    kernel.run(
        "import asyncio\n"
        "kept = []\n"
        "async def beside():\n"
        "    while len(kept) < 300:\n"
        "        grow(kept, len(kept) + 1); await asyncio.sleep(0)\n"
        "    fill(kept)\n"
        "    return 'ended'\n"
        "task = asyncio.ensure_future(beside())"
    )
    # The cell that waits for it may be stopped, once it is its turn again.
    kernel.run("await task")
    assert kernel.value("task.result()") == "'ended'"


def test_a_panel_is_told_while_native_code_holds_the_lock(
    start_in: StartIn, tmp_path: Path
) -> None:
    kernel = start_in("warn")
    session, shell = kernel.client.session, kernel.client.shell_channel
    for kind, data in (
        ("comm_open", {"target_name": "xleak", "data": {}}),
        ("comm_msg", {"data": {"id": 1, "kind": "subscribe"}}),
    ):
        shell.send(session.msg(kind, {"comm_id": "panel", **data}))
    os.mkfifo(tmp_path / "end")
    end = os.open(tmp_path / "end", os.O_RDWR)
    running = kernel.send(
        "import ctypes, os\n"
        f"end = os.open({str(tmp_path / 'end')!r}, os.O_RDWR)\n"
        "held = b'x' * (435 << 20); ctypes.PyDLL(None).read(end, ctypes.create_string_buffer(1), 1)"
    )
    try:
        told: dict[str, Any] = {}
        while told.get("kind") != "guard":
            told = kernel.client.get_iopub_msg(timeout=TIMEOUT)["content"].get("data", {})
    finally:
        os.write(end, b"x")
        os.close(end)
    assert kernel.wait(running).content["status"] == "ok"
    sentence = told.pop("sentence")
    assert sentence.startswith("Memory ")
    used, grown = told.pop("used_bytes"), told.pop("grown_bytes")
    assert LIMIT * 4 // 5 < used < LIMIT
    assert 0 < grown < used
    assert told.pop("level") in ("warning", "critical")
    assert told == {
        "kind": "guard",
        "device": "host",
        "limit_bytes": LIMIT,
        "limit": "cgroup",
        "index": int(kernel.ask("__import__('xleak')._native.records()[-1].index")),
    }


@pytest.mark.parametrize("resource", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_a_cell_is_stopped_before_an_rlimit_is_reached(
    start_kernel: Callable[..., Session], resource: str
) -> None:
    kernel = start_kernel(XLEAK_GUARD="interrupt")
    kernel.run(GROW)
    kernel.run(
        "import resource\n"
        "sizes = dict(line.split(':\\t') for line in open('/proc/self/status') if line.startswith('Vm'))\n"
        f"size = int(sizes['{'VmSize' if resource == 'RLIMIT_AS' else 'VmData'}'].split()[0]) << 10\n"
        f"resource.setrlimit(resource.{resource}, (size + {LIMIT}, resource.RLIM_INFINITY))"
    )
    ran = kernel.run("kept = []; grow(kept, 4000)")
    assert ran.content["ename"] == "MemoryGuardError"
    assert resource in ran.content["evalue"]
    (told,) = ran.of("display_data")
    assert (
        "The guard stopped cell 3 before the host was out of memory" in told["data"]["text/plain"]
    )
    assert kernel.value("len(kept) > 100") == "True"


def test_the_magic_shows_and_sets_what_is_done(fresh_kernel: Session) -> None:
    shown = fresh_kernel.run("%xleak guard").text()
    assert shown.startswith("guard: warn\n")
    assert "the machine, with swap: " in shown
    assert fresh_kernel.run("%xleak guard off").text() == "guard: off\n"
    refused = fresh_kernel.run("%xleak guard loud").text("stderr")
    assert "%xleak guard takes off, warn or interrupt, got 'loud'" in refused
    fresh_kernel.run("%xleak guard interrupt")
    assert "It rests while xleak is off" in (
        fresh_kernel.run("%xleak policy off\n%xleak guard").text()
    )


def test_the_growth_of_a_long_cell_is_told_while_it_runs(start_in: StartIn) -> None:
    kernel = start_in("warn")
    running = kernel.send("kept = []; grow(kept, 100)\nwhile True: pass")
    told = ""
    while "This cell has grown by" not in told:
        message = kernel.client.get_iopub_msg(timeout=TIMEOUT)
        told += message["content"].get("text", "")
    kernel.manager.interrupt_kernel()
    assert kernel.wait(running).content["ename"] == "KeyboardInterrupt"


def test_where_garbage_was_the_reason_the_policy_auto_lets_the_cell_go_on(
    start_in: StartIn,
) -> None:
    kernel = start_in("interrupt", XLEAK_POLICY="auto")
    ran = kernel.run(
        "import gc\n"
        "gc.set_threshold(10**9)\n"
        "for step in range(900):\n"
        "    cycle = [b'x' * (1 << 20)]; cycle.append(cycle); sum(range(100_000))\n"
        "step"
    )
    assert ran.value == "899"
    assert "garbage was collected" in ran.text("stderr")
