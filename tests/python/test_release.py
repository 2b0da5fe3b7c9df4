"""`%release_cache` lets go of what nobody uses, and of nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import xleak
from allocators import malloc_bytes
from shells import MIB, Session


def push_down(session: Session) -> None:
    """Shows enough for the values before to leave `_`, `__` and `___`."""
    for _ in range(3):
        session.run("'filler'")


def test_an_orphaned_entry_is_released(session: Session) -> None:
    session.run("memoryview(bytearray(8 << 20))")
    push_down(session)
    before = malloc_bytes()
    session.run("%release_cache")
    assert before - malloc_bytes() >= 7 * MIB
    assert session.leaks() == {}


def test_the_three_latest_values_stay(session: Session) -> None:
    session.run("memoryview(bytearray(8 << 20))")
    number = max(session.shell.user_ns["Out"])
    session.run("%release_cache")
    assert len(session.shell.user_ns["_"]) == 8 * MIB
    assert number in session.shell.user_ns["Out"]


def test_an_entry_that_the_source_uses_stays(session: Session) -> None:
    session.run("memoryview(bytearray(8 << 20))")
    number = max(session.shell.user_ns["Out"])
    session.run(f"size = len(Out[{number}])")
    push_down(session)
    session.run("%release_cache")
    assert len(session.shell.user_ns["Out"][number]) == 8 * MIB


def test_an_entry_whose_value_has_a_name_stays(session: Session) -> None:
    session.run("x = memoryview(bytearray(8 << 20))\nx")
    number = max(session.shell.user_ns["Out"])
    push_down(session)
    session.run("%release_cache")
    assert number in session.shell.user_ns["Out"]


def test_the_frames_of_the_last_error_and_cycles_are_released(session: Session) -> None:
    session.run("def fail():\n    held = memoryview(bytearray(8 << 20))\n    1 / 0")
    session.run("fail()")
    before = malloc_bytes()
    session.run("%release_cache")
    assert before - malloc_bytes() >= 7 * MIB


def test_an_error_that_the_user_keeps_has_its_traceback_afterwards(session: Session) -> None:
    session.run("kept = ValueError('x')")
    session.run("raise kept")
    session.run("%release_cache")
    assert session.shell.user_ns["kept"].__traceback__ is not None


def test_every_step_has_a_line_in_order(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("%release_cache")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "Garbage cycles",
        "Tracebacks",
        "Output entries that nobody uses",
        "Gradients that keep their Parameters",
        "Caches of frameworks",
        "Free pages of the C heap",
    ]


def test_a_dry_run_names_the_entries_and_keeps_them(session: Session) -> None:
    session.run("memoryview(bytearray(8 << 20))")
    entry = session.entry()
    push_down(session)
    step = xleak.release_cache("outputs", dry_run=True)[0]
    assert step.detail.startswith(f"{entry} 8")
    assert step.freed["malloc"] >= 8 * MIB
    assert list(session.leaks()) == [entry]


def test_bad_input_gets_one_sentence(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    assert not session.run("%release_cache everything")
    captured = capsys.readouterr()
    assert "or nothing; got 'everything'" in captured.out + captured.err


def test_one_step_alone_leaves_the_others_undone(session: Session) -> None:
    session.run("memoryview(bytearray(8 << 20))")
    entry = session.entry()
    push_down(session)
    session.run("def fail():\n    held = memoryview(bytearray(8 << 20))\n    1 / 0")
    session.run("fail()")
    before = malloc_bytes()
    session.run("%release_cache --tracebacks")
    assert 7 * MIB <= before - malloc_bytes() <= 9 * MIB
    assert list(session.leaks()) == [entry]
    # What waits for the collector is collected first, so that the bytes are the step's own.
    gone = [it.what for it in session.watcher.journal.entries]
    assert [it for it in gone if it != "garbage cycles"] == ["the last traceback"]


def test_the_journal_names_every_entry_that_went(session: Session) -> None:
    session.run("memoryview(bytearray(8 << 20))")
    first = session.entry()
    session.run("memoryview(bytearray(4 << 20))")
    second = session.entry()
    push_down(session)
    session.run("%release_cache --outputs")
    assert [it.what for it in session.watcher.journal.entries] == [f"{first}, {second}"]


def test_no_fix_of_a_single_finding_releases_the_whole_session() -> None:
    root = Path(__file__).parents[2]
    places = [
        *root.glob("monitor/smells/*/smell.cpp"),
        *root.glob("magics/xleak/shell/holders/*.py"),
    ]
    assert [it for it in places if re.search(r"%release_cache(?! --)", it.read_text())] == []
