"""What the comm of a panel is made of, without a kernel around it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from shells import MIB, Session
from xleak import _native
from xleak.agent.releases import Releases
from xleak.panel.actions import run_fix
from xleak.panel.answers import dtype_name, steps_of
from xleak.panel.messages import Message
from xleak.panel.panel import Panel
from xleak.panel.progress import Progress
from xleak.panel.requests import MOST_IN_WINDOW, WINDOW_SECONDS, Gate, Refused
from xleak.shell import install


class Comm:
    """A comm whose front end notes what it gets."""

    comm_id = "1"

    def __init__(self, broken: bool = False) -> None:
        self.sent: list[Message] = []
        self._broken = broken

    def send(self, data: Message) -> None:
        self.sent.append(data)
        if self._broken and data["kind"] != "session":
            raise OSError("the socket is closed")

    def on_msg(self, callback: Any) -> None:
        self.receive = callback

    def on_close(self, callback: Any) -> None:
        self.closed = callback

    def close(self) -> None:
        self.closed({})


@pytest.fixture
def panel(session: Session) -> Panel:
    """A second one beside that of the session, as its front ends see no other."""
    panel = Panel(session.shell, session.watcher, loop=None)
    session.watcher.after_account.append(panel._tell_cell)
    session.watcher.after_judging.append(panel._tell_findings)
    return panel


def subscribed(panel: Panel, comm: Comm) -> Comm:
    panel._opened(comm, {})  # type: ignore[arg-type]
    comm.receive({"content": {"data": {"id": 1, "kind": "subscribe"}}})
    return comm


def fix(code: str) -> Any:
    return SimpleNamespace(code=code)


def test_a_fix_leaves_no_name_of_its_own(session: Session) -> None:
    session.run("import numpy as np\nheld = [np.zeros(1 << 20)]")
    freed, lines = run_fix(
        session.shell, fix("import json as own\nfor it in held: held.pop(); it = 0")
    )
    assert freed["malloc"] == pytest.approx(8 * MIB, rel=0.02)
    assert lines == ["came back: 8 MiB to malloc"]
    assert not {"own", "it"} & session.shell.user_ns.keys()
    assert session.shell.user_ns["held"] == []


def test_a_fix_that_imports_takes_no_name_of_the_users(session: Session) -> None:
    session.run("gc = 'garbage counts'")
    run_fix(session.shell, fix("import gc; gc.collect()"))
    assert session.shell.user_ns["gc"] == "garbage counts"


def test_what_a_fix_prints_is_not_shown_and_what_others_print_meanwhile_is(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    code = (
        "import threading; print('of the fix')\n"
        "other = threading.Thread(target=print, args=('of another',)); other.start(); other.join()"
    )
    run_fix(session.shell, fix(code))
    assert capsys.readouterr().out == "of another\n"


@pytest.mark.parametrize("code", ["raise Unprintable", "exit_now()", "1 +"])
def test_a_fix_that_fails_says_so_and_keeps_no_error(session: Session, code: str) -> None:
    session.run(
        "class Unprintable(Exception):\n"
        "    def __str__(self): raise SystemError('its text was made')\n"
        "def exit_now(): raise SystemExit"
    )
    with pytest.raises(Refused, match=r"^The fix failed with \w+: `") as refused:
        run_fix(session.shell, fix(code))
    assert refused.value.__cause__ is None
    assert not hasattr(sys, "last_value")


def test_a_front_end_that_cannot_be_reached_fails_no_cell_and_is_forgotten(
    session: Session, panel: Panel, capsys: pytest.CaptureFixture[str]
) -> None:
    comm = subscribed(panel, Comm())
    comm._broken = True
    assert session.run("1")
    assert session.run("2")
    assert [it["kind"] for it in comm.sent] == ["hello", "session", "process", "cell"]
    assert capsys.readouterr().err == ""


def test_an_id_is_not_given_to_another_finding(session: Session, panel: Panel) -> None:
    comm = subscribed(panel, Comm())
    session.run(f"kept = bytearray({4 * MIB})\nmemoryview(kept)")
    session.run("del kept")
    entry = session.entry()
    session.run(f"%xdel {entry}")
    told = [it for it in comm.sent if it["kind"] == "findings"]
    first = told[0]["added"][0]["id"]
    assert [it["resolved"] for it in told if it["resolved"]] == [[first]]
    session.run(f"kept = bytearray({4 * MIB})\nmemoryview(kept)")
    session.run("del kept")
    second = comm.sent[-1]["added"][0]["id"]
    assert second != first


def test_nothing_is_read_for_panels_that_nobody_opened(
    session: Session, panel: Panel, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel._opened(comm := Comm(), {})  # type: ignore[arg-type]
    monkeypatch.setattr(_native, "record", None)
    monkeypatch.setattr(panel, "_told", None)
    assert session.run("memoryview(bytearray(4 << 20))")
    assert [it["kind"] for it in comm.sent] == ["hello"]


def test_without_watching_no_fix_is_run(session: Session, panel: Panel) -> None:
    comm = subscribed(panel, Comm())
    session.run(f"kept = bytearray({4 * MIB})\nmemoryview(kept)")
    session.run("del kept")
    finding = comm.sent[-1]["added"][0]["id"]
    session.watcher.settings.policy = "off"
    request = {"id": 2, "kind": "run_fix", "finding": finding, "fix": 0}
    comm.receive({"content": {"data": request}})
    assert comm.sent[-1]["kind"] == "error"
    assert "not watched" in comm.sent[-1]["message"]


def test_who_waits_gets_through_again_after_a_flood() -> None:
    now = 100.0
    gate = Gate(lambda: now)
    assert [gate.count() for _ in range(MOST_IN_WINDOW + 1)][-1] == MOST_IN_WINDOW + 1
    now += WINDOW_SECONDS
    assert gate.count() == 1


def test_a_short_search_is_not_told_and_a_long_one_four_times_a_second() -> None:
    now, told = 100.0, list[float | None]()
    progress = Progress(told.append, lambda: now)
    for share in range(10):
        progress.at(share / 10)
        now += 0.1
    assert told == [0.3, 0.6, 0.9]
    assert progress.goes_on() is False


@pytest.mark.parametrize(
    ("way", "steps"),
    [
        ("model", ["model"]),
        ("model.layers[3].weight", ["model", ".layers", "[3]", ".weight"]),
        ("Out[2]['a'][0]", ["Out[2]", "['a']", "[0]"]),
        ("it['a.b[0]']", ["it", "['a.b[0]']"]),
        ("it['it\\'s']._x", ["it", "['it\\'s']", "._x"]),
        ("f → a cell variable.x", ["f", " → a cell variable", ".x"]),
        ("it[<tuple>].x", ["it", "[<tuple>]", ".x"]),
        ("the last traceback.tb_next", ["the last traceback", ".tb_next"]),
        ("<img src=x>", ["<img src=x>"]),
        ("it['']']", ["it", "['']']"]),
    ],
)
def test_a_way_is_its_steps_one_after_the_other(way: str, steps: list[str]) -> None:
    assert "".join(steps_of(way)) == way
    assert steps_of(way) == steps


@pytest.mark.parametrize(
    ("in_cpp", "name"),
    [
        ("float", "float32"),
        ("c10::Half", "float16"),
        ("c10::BFloat16", "bfloat16"),
        ("long", "int64"),
        ("signed char", "int8"),
        ("bool", "bool"),
    ],
)
def test_a_type_is_named_as_torch_names_it(in_cpp: str, name: str) -> None:
    assert dtype_name(in_cpp) == name


# In the oldest generation, whose turn comes late, and with nothing else to collect.
CYCLE = f"""
class Node:
    def __init__(self): self.data, self.me = bytearray({24 * MIB}), self
node = Node()
import gc; gc.collect();
"""


def test_by_itself_the_garbage_of_a_cycle_goes_in_any_kernel(session: Session) -> None:
    assert install._installed is not None and install._installed.panel is not None
    comm = subscribed(install._installed.panel, Comm())
    session.watcher.settings.policy = "auto"
    for cell in (CYCLE, "del node", "1"):
        session.run(cell)
    [released] = [it for it in comm.sent if it["kind"] == "released"]
    assert sum(released["freed"].values()) == pytest.approx(24 * MIB, rel=0.02)
    told = [it for it in comm.sent if it["kind"] == "findings"]
    assert released["findings"] == [it["id"] for it in told[0]["added"]]
    assert released["findings"] in [it["resolved"] for it in told]


def test_what_cannot_go_by_itself_is_tried_once_after_a_cell(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert install._installed is not None and install._installed.panel is not None
    tried: list[str] = []

    def leave(
        releases: Releases, findings: Sequence[_native.Finding], interrupted: object
    ) -> list[Any]:
        tried.extend(it.key for it in findings)
        return []

    monkeypatch.setattr(Releases, "_outputs", leave)
    session.watcher.settings.policy = "auto"
    session.run(f"kept = bytearray({4 * MIB})\nmemoryview(kept)")
    for cell in ("del kept; 1", "2", "3"):
        session.run(cell)
        install._installed.panel._agent.wake()
    assert tried == [session.leaks().popitem()[0]] * 3
