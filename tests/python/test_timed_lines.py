"""Where the time of a cell goes, and what is told of it."""

from __future__ import annotations

import sys

import pytest
from shells import Session
from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell import readings

CODES = "XL605", "XL609", "XL610"
TRAINING = """
import time, torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(400, 400).to(device)
opt = torch.optim.SGD(net.parameters(), 0.1)
"""
TRAINED = """

start = time.monotonic()
while time.monotonic() - start < 1.5:
    loss = net(torch.rand(4, 400).to(device)).square().mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
    again = loss.item()
    worst = [loss.cpu(), time.sleep(0.05)]
"""


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has something allocated."""
    read = readings.DeviceReading("cuda:0", 1 << 20, None, None, None, None)
    monkeypatch.setattr(readings, "_torch_readings", lambda: [read])


def cell() -> int:
    return _native.records()[-1].index


def name() -> str:
    return name_of_run(cell())


def told(session: Session) -> list[_native.Finding]:
    return [it for it in session.watcher.findings() if it.code in CODES]


def test_the_time_of_a_call_is_its_lines_and_the_callers(session: Session) -> None:
    waits = "import time\ndef wait():\n    time.sleep(0.4)\nwait()\nwait()\n"
    names = {"__name__": "users"}
    _native.follow_lines(names)
    index = _native.begin_cell(None, None, [])
    _native.begin_line_times()
    exec(compile(waits, "<cell>", "exec"), names)
    _native.end_cell(index, "ok", None, None, [])
    lines, seconds = _native.line_times()
    at = {line: seconds for file, line, seconds in lines if file == "<cell>"}
    assert seconds > 0.6
    assert at[3] == pytest.approx(seconds, rel=0.1)
    assert at[4] + at[5] == pytest.approx(seconds, rel=0.1)
    assert sys.gettrace() is None
    assert sys.getprofile() is None


def test_finalizers_run_on_no_thread_of_xleak(session: Session) -> None:
    session.run(
        "import gc, threading, time\n"
        "class Loop:\n"
        "    def __init__(self): self.me = self\n"
        "    def __del__(self): threads.add(threading.get_native_id())\n"
        "threads, before = set(), gc.get_threshold()\n"
        "gc.set_threshold(1, 1, 1); start = time.monotonic()\n"
        "while time.monotonic() - start < 1: Loop(); time.sleep(0)\n"
        "gc.set_threshold(*before); main = threading.get_native_id()"
    )
    names = session.shell.user_ns
    assert names["threads"] == {names["main"]}


def test_reads_of_a_device_are_told_where_they_take_time(session: Session, device: None) -> None:
    session.run(TRAINING)
    session.run(TRAINED)
    (found,) = told(session)
    assert (found.code, found.severity, found.cause_cell) == ("XL609", "note", cell())
    assert f"line 10 of {name()}" in found.message
    session.run(TRAINED)
    (again,) = told(session)
    assert again.cause_cell == cell(), "what the last run of a cell did takes the place"


def test_no_wait_for_a_device_is_told_where_none_is_used(session: Session) -> None:
    session.run(TRAINING)
    session.run(TRAINED)
    assert told(session) == []


def test_a_loader_is_told_by_the_time_in_its_loop_s_head(session: Session, device: None) -> None:
    session.run(
        "import time, torch\nfrom torch.utils.data import DataLoader\n"
        "class Slow(torch.utils.data.Dataset):\n"
        "    def __len__(self): return 16\n"
        "    def __getitem__(self, number): time.sleep(0.1); return torch.rand(4)\n"
        "loader = DataLoader(Slow(), batch_size=4)"
    )
    session.run("for row in loader:\n    row = row.to(torch.device('cpu'))")
    (found,) = told(session)
    assert (found.code, found.cause_cell) == ("XL610", cell() - 1)
    assert f"line 1 of {name()}" in found.message


def test_transfers_are_told_where_they_take_time(session: Session, device: None) -> None:
    session.run(
        "import time, torch\ntable = torch.rand(4)\ndevice = torch.device('cpu')\n"
        "for turn in range(15):\n    level = [table.to(device), time.sleep(0.1)]"
    )
    (found,) = told(session)
    assert (found.code, found.holders) == ("XL605", [f"line 5 of {name()}"])
