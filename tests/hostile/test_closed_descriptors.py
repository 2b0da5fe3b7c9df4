"""Cells that close the descriptors of their process, xleak's and the kernel's own among them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from harness import TIMEOUT, IpykernelManager, Session, XleakManager, kill_in_a_cell, start, stop

PROGRAM = Path(__file__).with_name("taken_descriptors.py")
KINDS = (XleakManager, IpykernelManager)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kernel(request: pytest.FixtureRequest, state: Path) -> Any:
    session = start({"XDG_STATE_HOME": str(state)}, kind=request.param)
    if request.param is IpykernelManager:
        session.run("%load_ext xleak")
    session.run("x = 1")
    yield session
    stop(session)


def record_in(state: Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "xleak", "postmortem", "--format", "json"],
        env={**os.environ, "XDG_STATE_HOME": str(state)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    [record] = json.loads(done.stdout)["records"]
    return record


@pytest.mark.parametrize("last", [10, 4096])
@pytest.mark.parametrize("then", ["", "\nwhile True: pass"], ids=["ends", "runs on"])
def test_a_cell_whose_kernel_dies_of_its_closed_descriptors_is_named(
    kernel: Session, state: Path, last: int, then: str
) -> None:
    source = f"import os\nos.closerange(3, {last}){then}"
    kernel.send(source)
    if then:
        # Whether the kernel's threads end the process, or it runs on, is its own matter.
        try:
            kernel.process.wait(2)
        except subprocess.TimeoutExpired:
            kernel.process.kill()
    kernel.process.wait(TIMEOUT)
    cell = record_in(state)["cell"]
    assert cell["source"] == source
    # ipykernel ends by a thread of its own, which may come just after the cell's end.
    if then or isinstance(kernel.manager, XleakManager):
        assert cell["running"]


OWN = """
import os
for name in os.listdir("/proc/self/fd"):
    try:
        target = os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        continue
    if target.endswith(".record"):
        os.close(int(name))
        taken = os.open(PATH, os.O_RDWR | os.O_CREAT)
        assert taken == int(name)
"""


def test_a_record_whose_descriptor_the_user_has_taken_is_kept_and_the_user_s_file_too(
    kernel: Session, state: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"only mine")
    ran = kernel.run(OWN.replace("PATH", repr(str(mine))))
    assert ran.content["status"] == "ok", ran.content
    kernel.run("y = 2")
    kill_in_a_cell(kernel, tmp_path)
    cell = record_in(state)["cell"]
    assert cell["running"] and cell["source"].endswith("while True: pass")
    assert mine.read_bytes() == b"only mine"


def test_the_user_s_file_stays_open_when_the_record_is_dropped(
    kernel: Session, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.write_bytes(b"only mine")
    kernel.run(OWN.replace("PATH", repr(str(mine))))
    kernel.run("%xleak policy off")
    assert kernel.value("os.read(taken, 100)") == "b'only mine'"


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_what_takes_the_numbers_of_closed_descriptors_is_not_read_moved_or_closed(
    kind: str, state: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, kind, tmp_path / "mine"],
        env={**os.environ, "XDG_STATE_HOME": str(state)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    # The record, the process's numbers and its limits at the least.
    assert found.pop("numbers") > 5
    assert found == {"same": True, "untouched": True}


# The kernel's ends of what 1 and 2 write to; those of ZeroMQ are sockets and events.
CAPTURED = """
import fcntl, os, stat
reading, writing = os.pipe()
os.write(writing, b"only mine")
inside, taken = {os.fstat(it).st_ino for it in (1, 2)}, []
for number in map(int, os.listdir("/proc/self/fd")):
    try: facts = os.fstat(number)
    except OSError: continue
    if facts.st_ino in inside and number > 2:
        os.dup2(reading, number)
        taken.append(number)
"""


def test_a_pipe_of_the_user_s_in_place_of_the_kernel_s_own_is_not_printed(
    state: Path,
) -> None:
    session = start({"XDG_STATE_HOME": str(state)})
    try:
        assert session.run(CAPTURED).content["status"] == "ok"
        assert session.run("print('here', len(taken))").text() == "here 2\n"
        assert session.value("os.read(reading, 100)") == "b'only mine'"
    finally:
        stop(session)


def test_a_kernel_that_is_killed_between_cells_is_not_said_to_die_in_one(
    kernel: Session, state: Path
) -> None:
    kernel.run("y = 2")
    # What ipykernel runs after its reply, it has run once it has answered again.
    kernel.request("kernel_info_request")
    kernel.process.kill()
    kernel.process.wait(TIMEOUT)
    assert record_in(state)["cell"]["running"] is False
