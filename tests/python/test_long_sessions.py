"""What a look does depends on what is new, and not on how many cells ran before."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from notebook_files import KERNEL, notebook, written
from shells import MIB, Session
from xleak import _native, verdict
from xleak.cli import main
from xleak.shell.forgetting import Namespace, _views


def calls_of_a_look(session: Session) -> int:
    """How many functions of Python's a look calls after one more small cell."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    session.shell.run_cell("x = 1", store_history=True)
    session.watcher.look_again()
    sys.setprofile(count)
    session.watcher.idle(lambda: False)
    sys.setprofile(None)
    return calls


def test_a_look_after_many_small_cells_calls_no_more_python_than_after_few(
    session: Session,
) -> None:
    session.run("values = [0] * (1 << 18)\nvalues")
    run_many(session, 20)
    calls_of_a_look(session)  # Each cell is read once.
    few = calls_of_a_look(session)
    run_many(session, 300)
    calls_of_a_look(session)
    # The objects of Python's that one cell more leaves differ a little.
    assert calls_of_a_look(session) < few * 1.1


def run_many(session: Session, cells: int) -> None:
    for number in range(cells):
        session.shell.run_cell(f"y = {number}\ny + 1", store_history=True)
    session.watcher.idle(lambda: False)


def test_an_output_between_many_small_ones_is_found(session: Session) -> None:
    run_many(session, 100)
    session.run("big = bytearray(4 << 20)")
    session.run("big")
    kept = session.entry()
    run_many(session, 100)
    session.run("del big")
    assert session.leaks() == {kept: pytest.approx(4 * MIB, rel=0.01)}
    assert session.run(f"%xdel {kept}")
    assert session.leaks() == {}


# --- errors -----------------------------------------------------------------------------------


def keeps(session: Session, source: str) -> bool:
    session.shell.run_cell(source, store_history=True)
    error = session.shell.last_execution_result.error_in_exec
    return _native.may_keep_memory(error, session.shell.user_ns)


DEEP = "def down(frames, label='x', pair=(1, 'a')):\n    return down(frames - 1) if frames else {}\ndown(30)"


@pytest.mark.parametrize(
    "source",
    [
        "1/0",
        "raise KeyError('a', 2)",
        DEEP.format("1/0"),
        "undefined",
        "try:\n    1/0\nexcept ZeroDivisionError as error:\n    raise ValueError('b') from error",
        # Whoever deletes the name is looked at again.
        "rows = bytearray(1 << 20)\ndef use(rows): 1/0\nuse(rows)",
    ],
)
def test_an_error_whose_frames_have_nothing_of_their_own_keeps_nothing(
    session: Session, source: str
) -> None:
    assert not keeps(session, source)


@pytest.mark.parametrize(
    "source",
    [
        "def use():\n    rows = bytearray(1 << 20)\n    1/0\nuse()",
        "def use(make=lambda: bytearray(1 << 20)):\n    text = 'a' * (1 << 20)\n    1/0\nuse()",
        "raise ValueError(bytearray(1 << 20))",
        "error = ValueError()\nerror.rows = bytearray(1 << 20)\nraise_it = lambda: (_ for _ in ()).throw(error)\n"
        "raise_it()",
        "def inner():\n    rows = list(range(10))\n    1/0\n"
        "try:\n    inner()\nexcept ZeroDivisionError as error:\n    raise ValueError from error",
        "try:\n    raise RuntimeError(bytearray(9))\nexcept RuntimeError:\n    1/0",
    ],
)
def test_an_error_that_alone_may_keep_something_is_a_reason_to_look(
    session: Session, source: str
) -> None:
    assert keeps(session, source)


def test_a_look_at_an_error_runs_no_code_of_the_users(session: Session) -> None:
    assert keeps(
        session,
        "touched = []\n"
        "class Hostile(Exception):\n"
        "    def __getattribute__(self, name):\n"
        "        if armed: touched.append(name)\n"
        "        return super().__getattribute__(name)\n"
        "armed = []\n"
        "def use(value=Hostile()):\n"
        "    armed.append(1)\n"
        "    raise Hostile(bytearray(9))\n"
        "use()",
    )
    session.shell.user_ns["armed"].clear()
    touched = list(session.shell.user_ns["touched"])
    session.shell.user_ns["armed"].append(1)
    _native.may_keep_memory(
        session.shell.last_execution_result.error_in_exec, session.shell.user_ns
    )
    assert session.shell.user_ns["touched"] == touched


# --- deleting ---------------------------------------------------------------------------------


def seconds_of_a_plan(session: Session, outputs: int) -> float:
    """What it takes to plan that a value goes, beside so many outputs."""
    shell = session.shell
    shell.user_ns["_oh"].update({number: [number] for number in range(1, outputs)})
    target = shell.user_ns["target"] = bytearray(MIB)
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        _views(session.watcher, {id(target)}, {id(target)}, Namespace(session.watcher, ["target"]))
        best = min(best, time.process_time() - began)
    shell.user_ns["_oh"].clear()
    return best


def test_to_delete_a_value_takes_no_more_than_its_share_for_each_output(session: Session) -> None:
    few = seconds_of_a_plan(session, 4_000)
    # A copy of what is known for each output takes a hundred times as long.
    assert seconds_of_a_plan(session, 40_000) < few * 30


# --- runs -------------------------------------------------------------------------------------


def test_a_run_asks_after_a_cell_for_what_is_new_and_at_its_end_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[list[int]] = []
    read = verdict.from_json

    def note(shape: dict[str, Any]) -> verdict.Verdict:
        received.append([cell["index"] for cell in shape["cells"]])
        return read(shape)

    monkeypatch.setattr(verdict, "from_json", note)
    target = tmp_path / "report.json"
    path = written(tmp_path, notebook(*(f"x = {number}" for number in range(5))))
    words = ["run", "--kernel", KERNEL, "--format", "json", "--output", str(target), str(path)]
    assert main(words) == 0
    assert received == [[], [1], [2], [3], [4], [5], [1, 2, 3, 4, 5]]
    report = json.loads(target.read_text())
    assert [cell["index"] for cell in report["cells"]] == [1, 2, 3, 4, 5]
    assert report["summary"]["peak_bytes"] == max(
        cell["host"]["resident_peak_bytes"] for cell in report["cells"]
    )
