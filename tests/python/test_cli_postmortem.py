"""`xleak postmortem`: what it says of which evidence, and of files that are no records."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from notebook_files import notebook, report, run, written
from xleak.cli import main
from xleak.flight import files
from xleak.flight.death import death_of, sentence
from xleak.render.sparkline import sparkline

MIB = 1 << 20
COMM = Path(__file__).parents[2] / "share" / "comm"
SCHEMA = json.loads((COMM / "postmortem.v1.schema.json").read_text())

Leave = Callable[..., Path]

# A process that keeps a record, runs the beginning of a cell and dies.
DIES = """
import os, sys
from pathlib import Path
from xleak import _native
from xleak.flight import files
_native.keep_flight_record(files.new_file(), sys.argv[1], "/work", "xleak 1")
if sys.argv[2]:
    _native.announce_cell(sys.argv[2].encode(), 4)
    _native.begin_cell("8f1c", None, [])
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "xleak"


@pytest.fixture
def leave(state: Path) -> Leave:
    """Leaves the record of a process that was killed; its path."""

    def leaver(source: str = "x = 1", connection_file: str = "") -> Path:
        words = [sys.executable, "-c", DIES, connection_file, source]
        assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
        return max(state.glob("*.record"))

    return leaver


def shown(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> str:
    assert main(["postmortem", *map(str, arguments)]) == code
    return capsys.readouterr().out


def shape(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> Any:
    found = json.loads(shown(capsys, *arguments, "--format", "json", code=code))
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    return found


def refused(capsys: pytest.CaptureFixture[str], path: str | Path) -> str:
    """The one sentence of a command that ends with code 2."""
    assert main(["postmortem", str(path)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.strip().splitlines()) == 1, told.err
    return told.err


# --- the command -------------------------------------------------------------------------------


def test_where_no_kernel_died_one_sentence_says_so_and_the_code_is_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert shown(capsys, code=1).startswith("No kernel died: ")
    assert shape(capsys, code=1)["records"] == []
    assert shown(capsys, "4711", code=1).startswith("There is no record of a process 4711")


def test_the_newest_record_is_shown_and_with_all_every_one(
    capsys: pytest.CaptureFixture[str], leave: Leave
) -> None:
    first, second = leave("first()"), leave("second()")
    [record] = shape(capsys)["records"]
    assert (record["path"], record["cell"]["source"]) == (str(second), "second()")
    assert record["cell"]["execution_count"] == 4
    assert record["cell"]["cell_id"] == "8f1c"
    paths = [it["path"] for it in shape(capsys, "--all")["records"]]
    assert paths == [str(second), str(first)]


def test_a_record_is_chosen_by_its_file_or_its_process(
    capsys: pytest.CaptureFixture[str], leave: Leave
) -> None:
    first = leave("first()")
    leave("second()")
    [record] = shape(capsys, first)["records"]
    assert record["cell"]["source"] == "first()"
    [same] = shape(capsys, str(record["pid"]))["records"]
    assert same == record


def test_the_text_has_the_cell_its_lines_the_cause_and_the_file(
    capsys: pytest.CaptureFixture[str], leave: Leave
) -> None:
    path = leave("a = 1\nb = 2\nc = 3\nd = 4")
    text = shown(capsys)
    assert "It ended in cell 4, " in text
    assert "  | a = 1\n  | b = 2\n  | c = 3\n  | …\n" in text
    assert "Cause:  What ended it is not known" in text
    assert f"Record: {path}" in text


def test_what_a_source_holds_is_data_in_the_text(
    capsys: pytest.CaptureFixture[str], leave: Leave
) -> None:
    leave("x = '\x1b[2J\x07'")
    text = shown(capsys)
    assert "\x1b" not in text and "\x07" not in text


def test_a_process_that_died_before_its_first_cell_has_none(
    capsys: pytest.CaptureFixture[str], leave: Leave
) -> None:
    leave("")
    [record] = shape(capsys)["records"]
    assert record["cell"] is None and record["last_bytes"] is None
    assert "before its first cell" in shown(capsys)


@pytest.mark.parametrize("content", [b"", b"xleakrec", b"\0" * (64 << 10), os.urandom(64 << 10)])
def test_a_file_that_is_no_record_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "any.record"
    path.write_bytes(content)
    assert "is no record of a kernel: " in refused(capsys, path)


def test_a_record_of_any_bytes_is_shown_or_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, leave: Leave
) -> None:
    whole, path, random = leave().read_bytes(), tmp_path / "any.record", Random(7)
    for _ in range(300):
        changed = bytearray(whole)
        # The header and the cells; what comes behind them is samples.
        for _ in range(100):
            changed[random.randrange(12, 4200)] = random.randrange(256)
        path.write_bytes(changed)
        for record in shape(capsys, path)["records"]:
            assert record["cell"] is None or record["cell"]["index"] > 0
        shown(capsys, path)


def test_what_cannot_be_opened_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, leave: Leave
) -> None:
    assert "No such file" in refused(capsys, tmp_path / "none")
    assert "no regular file" in refused(capsys, tmp_path)
    link = tmp_path / "link"
    link.symlink_to(leave())
    assert "cannot open" in refused(capsys, link)


def test_a_file_that_is_no_record_hides_none(
    capsys: pytest.CaptureFixture[str], state: Path, leave: Leave
) -> None:
    path = leave("x = 1")
    (state / "99999999999999999999-1.record").write_bytes(b"hostile")
    [record] = shape(capsys)["records"]
    assert record["path"] == str(path)


def test_a_folder_of_somebody_else_is_not_written_into(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    state.parent.mkdir()
    state.symlink_to(theirs)
    with pytest.raises(PermissionError):
        files.new_file()


def test_a_relative_state_folder_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert files.folder() == Path.home() / ".local" / "state" / "xleak"


# --- a run -------------------------------------------------------------------------------------


def test_a_run_says_what_the_record_of_its_dead_kernel_knows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    deadly = notebook(
        "",
        "rows = bytearray(64 << 20)\nimport os, time\ntime.sleep(0.3)\nos.kill(os.getpid(), 15)",
    )
    done = run(written(tmp_path, deadly), "--format", "json")
    assert done.returncode == 3
    failure = report(done)["failure"]
    assert (failure["kind"], failure["cell"]) == ("died", 2)
    message = failure["message"]
    assert message.startswith("the kernel died ")
    assert "had risen by 64" in message and message.endswith("SIGTERM ended it.")
    [record] = shape(capsys)["records"]
    assert (record["cause"], record["exit_status"]) == ("signal", -15)


def test_a_kernel_that_the_run_itself_killed_leaves_no_record(tmp_path: Path, state: Path) -> None:
    endless = notebook("import time\ntime.sleep(1000)")
    assert run(written(tmp_path, endless), "--timeout", "1").returncode == 3
    assert list(state.glob("*.record")) == []


# --- evidence ----------------------------------------------------------------------------------

GROUP = "ended a process of its control group after that"


def record(
    samples: Any = ((0.0, 100 * MIB, None), (2.0, 490 * MIB, 4 * MIB)), **changes: Any
) -> Any:
    """A record as the native module gives it; it ended in cell 3 of a group of 512 MiB."""
    cell = SimpleNamespace(index=3, execution_count=3, running=True, samples=list(samples))
    fields = {
        "cell": cell,
        "limit_bytes": 512 * MIB,
        "limit_is_group": True,
        "kills_before": (0, 5),
        "kills_after": (0, 5),
        "exit_status": None,
        "asked_to_end": False,
    }
    return SimpleNamespace(**{**fields, **changes})


FAR = ((0.0, 100 * MIB, 400 * MIB), (2.0, 110 * MIB, 390 * MIB))


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({}, "unknown"),
        ({"kills_after": (1, 6)}, "out_of_memory"),
        ({"kills_after": (None, 6)}, "out_of_memory"),
        # The counter of the group is nearer to the process than that of the machine.
        ({"kills_after": (0, 6)}, "unknown"),
        ({"kills_after": (None, None)}, "unknown"),
        ({"kills_before": (None, None)}, "unknown"),
        # A group that was made again counts from 0.
        ({"kills_before": (3, None), "kills_after": (1, None)}, "unknown"),
        ({"kills_after": (1, 6), "samples": FAR}, "unknown"),
        ({"kills_after": (1, 6), "samples": ()}, "unknown"),
        ({"kills_after": (1, 6), "limit_bytes": None}, "unknown"),
        ({"kills_after": (1, 6), "exit_status": -9}, "out_of_memory"),
        ({"kills_after": (1, 6), "exit_status": -11}, "signal"),
        ({"kills_after": (1, 6), "exit_status": 1}, "unknown"),
        ({"exit_status": -9}, "signal"),
        ({"asked_to_end": True}, "signal"),
    ],
)
def test_out_of_memory_is_said_only_where_a_kill_was_counted_and_little_was_left(
    changes: Any, cause: str
) -> None:
    assert death_of(record(**changes)).cause == cause


def test_other_processes_of_the_group_may_have_taken_what_was_left() -> None:
    others = ((0.0, 100 * MIB, 400 * MIB), (2.0, 110 * MIB, 2 * MIB))
    assert death_of(record(samples=others, kills_after=(1, 6))).cause == "out_of_memory"


def test_the_sentence_has_cell_time_growth_limit_and_evidence() -> None:
    found = record(kills_after=(1, 6))
    assert sentence(found, death_of(found)) == (
        "It ended in cell 3, 2.00 s after the cell had begun: it had risen by 390 MiB within 2.00 s "
        "and held 490 MiB at last; its control group may have 512 MiB. Out of memory: the "
        "out-of-memory killer ended a process of its control group after that, and little was left."
    )


def test_a_kill_that_may_have_been_of_another_process_is_told_as_such() -> None:
    why = death_of(record(samples=FAR, kills_after=(1, 6))).why
    assert GROUP in why and "when last measured this one was not near the limit" in why


def test_where_nobody_counts_it_is_not_said_that_nothing_was_killed() -> None:
    why = death_of(record(kills_before=(None, None), kills_after=(None, None))).why
    assert why.endswith("cannot be told any more.")


def test_the_rise_is_from_where_it_was_last_smallest() -> None:
    steps = ((0.0, 90 * MIB, None), (1.0, 50 * MIB, None), (3.0, 200 * MIB, None))
    death = death_of(record(samples=steps))
    assert (death.grown_bytes, death.grown_seconds) == (150 * MIB, 2.0)
    flat = death_of(record(samples=((0.0, 90 * MIB, None), (3.0, 91 * MIB, None))))
    assert (flat.last_bytes, flat.grown_bytes) == (91 * MIB, None)


# --- the line of sizes -------------------------------------------------------------------------


def test_a_sparkline_rises_with_the_sizes_and_fills_what_was_not_seen() -> None:
    assert sparkline([(0, 0), (7, 700)], 8) == "▁▁▁▁▁▁▁█"
    assert sparkline([(t, t) for t in range(8)], 8) == "▁▂▃▄▅▆▇█"
    assert sparkline([], 8) == ""
    assert sparkline([(0, 5)], 8) == "█"
    assert len(sparkline([(0, 0), (math.pi, 0)], 8)) == 8
