"""`%xdel` frees what a name and the shell's caches keep, by the allocators' own counters."""

from __future__ import annotations

import gc
import sys

import pytest
import xleak
from allocators import counter_of, malloc_bytes
from shells import MIB, Session
from values import VALUES


@pytest.mark.parametrize("form", ["%xdel x", "del x\n%xdel {entry}"], ids=["name", "entry"])
@pytest.mark.parametrize("value", [v for v in VALUES if v != "polars frame"])
def test_the_bytes_come_back_by_the_allocator_s_own_counter(
    session: Session, value: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    setup, make, show, size = VALUES[value]
    session.run(f"MIB = 1 << 20\n{setup}")
    session.run(make)
    session.run(show)
    counter = counter_of(value)
    before = counter()
    for line in form.format(entry=session.entry()).splitlines():
        assert session.run(line)
    assert before - counter() >= size * 0.75
    assert "came back" in capsys.readouterr().out


def test_polars_keeps_its_memory_where_no_counter_sees_it_and_that_is_said(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("import polars as pl; df = pl.DataFrame({'a': range(1 << 20)})")
    session.run("df")
    session.run("%xdel df")
    assert "unknown: about 8 MiB" in capsys.readouterr().out


def test_another_name_of_the_user_s_stays_and_is_listed(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("a = b = x = memoryview(bytearray(4 << 20))\na")
    before = malloc_bytes()
    session.run("%xdel a")
    assert "still held by `b`, `x`" in capsys.readouterr().out
    assert "a" not in session.shell.user_ns
    assert len(session.shell.user_ns["b"]) == 4 * MIB
    assert before - malloc_bytes() < MIB


def test_a_container_that_holds_it_is_listed_by_its_name(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("x = memoryview(bytearray(4 << 20)); batches = [x]")
    session.run("%xdel x")
    assert "still held by `batches[0]`" in capsys.readouterr().out


def test_a_way_through_several_containers_is_told_as_an_expression(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("x = memoryview(bytearray(4 << 20)); cache = {'a b': [x]}")
    session.run("def keep(value):\n    return lambda: value")
    session.run("later = keep(x)")
    session.run("%xdel x")
    said = capsys.readouterr().out
    assert "`cache['a b'][0]`" in said
    assert "`later" in said


def test_who_holds_a_part_is_told_where_nobody_holds_the_whole(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("import numpy as np; model = {'w': [np.ones(1 << 20)], 'b': np.ones(1 << 20)}")
    session.run("class Optimizer: pass\noptimizer = Optimizer(); optimizer.seen = model['w'][0]")
    before = malloc_bytes()
    session.run("%xdel model")
    assert "still held by `optimizer.seen`" in capsys.readouterr().out
    assert 7 * MIB < before - malloc_bytes() < 9 * MIB


def test_the_largest_value_has_its_holder_found_in_the_time_of_a_look(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    # Looked for node by node it would take as long as the square of this.
    session.run("x = [[] for _ in range(300_000)]; other = [x]")
    session.run("%xdel x")
    assert "still held by `other[0]`" in capsys.readouterr().out


def test_a_container_in_the_output_cache_stays_and_is_listed(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("import numpy as np; x = np.zeros(1 << 20); y = np.zeros(1 << 20)")
    session.run("[x, y]")
    entry = session.entry()
    session.run("del y")
    session.run("%xdel x")
    assert f"still held by `{entry}[0]`" in capsys.readouterr().out


def test_an_entry_is_deleted_without_its_name(session: Session) -> None:
    session.run("x = memoryview(bytearray(4 << 20))\nx")
    entry = session.entry()
    session.run(f"%xdel {entry}")
    assert len(session.shell.user_ns["x"]) == 4 * MIB
    assert int(entry[4:-1]) not in session.shell.user_ns["Out"]


def test_no_reference_is_left_anywhere_in_the_shell(session: Session) -> None:
    session.run("class Canary: pass\nx = Canary()\nx")
    session.run("x")
    session.run("import weakref; alive = weakref.ref(x)")
    session.run("%xdel x")
    assert session.shell.user_ns["alive"]() is None


def test_the_last_traceback_lets_its_frames_go(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("x = memoryview(bytearray(4 << 20))")
    session.run("def fail(held):\n    try: 1 / 0\n    except Exception as e: raise KeyError from e")
    assert not session.run("fail(x)")
    before = malloc_bytes()
    session.run("%xdel x")
    assert "the last traceback" in capsys.readouterr().out
    assert before - malloc_bytes() > 3 * MIB


def test_a_traceback_that_does_not_hold_it_stays_for_debug(session: Session) -> None:
    session.run("x = memoryview(bytearray(4 << 20))")
    session.run("1 / 0")
    session.run("%xdel x")
    assert isinstance(sys.last_value, ZeroDivisionError)
    assert sys.last_value.__traceback__ is not None


def test_a_dry_run_changes_nothing_and_says_what_would_come_back(session: Session) -> None:
    session.run("import numpy as np; q = np.zeros((1024, 1024))")
    session.run("q.T")
    names = set(session.shell.user_ns)
    result = xleak.forget("q", dry_run=True)
    assert result.freed["malloc"] >= 8 * MIB
    assert set(session.shell.user_ns) == names
    assert (
        session.shell.user_ns["_"]
        is session.shell.user_ns["Out"][max(session.shell.user_ns["Out"])]
    )


def test_several_targets_go_together_or_not_at_all(session: Session) -> None:
    session.run("a = memoryview(bytearray(4 << 20)); b = memoryview(bytearray(2 << 20))")
    assert not session.run("%xdel a nothing b")
    assert {"a", "b"} <= session.shell.user_ns.keys()
    before = malloc_bytes()
    session.run("%xdel a b")
    assert {"a", "b"}.isdisjoint(session.shell.user_ns)
    assert before - malloc_bytes() > 5 * MIB


def test_by_name_only_leaves_the_output_cache(session: Session) -> None:
    session.run("x = memoryview(bytearray(4 << 20))\nx")
    session.run("%xdel -n x")
    assert "x" not in session.shell.user_ns
    assert list(session.leaks()) == [session.entry()]


def test_underscore_goes_on_moving_afterwards(session: Session) -> None:
    session.run("x = bytearray(10)\nx")
    session.run("%xdel x")
    session.run("'next'")
    assert session.shell.user_ns["_"] == "next"
    session.run("'after'")
    assert (session.shell.user_ns["_"], session.shell.user_ns["__"]) == ("after", "next")


def test_a_value_in_a_cycle_is_collected_and_gc_is_left_as_it_was(session: Session) -> None:
    session.run("import numpy as np; x = [np.zeros(1 << 20)]; x.append(x)\nx")
    gc.disable()
    try:
        before = malloc_bytes()
        session.run("%xdel x")
        assert before - malloc_bytes() > 7 * MIB
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "NAME or Out[n], or several"),
        ("a b", "name 'a' is not defined"),
        ("--force a", "NAME or Out[n], or several"),
        ("nothing", "name 'nothing' is not defined"),
        ("Out[9999]", "Out[9999] is not kept"),
        ("x.y", "one variable name or Out[n], got 'x.y'"),
        ("Out", "belongs to the shell"),
        ("get_ipython", "belongs to the shell"),
        ("-n nothing", "name 'nothing' is not defined"),
    ],
)
def test_bad_input_gets_one_sentence(
    session: Session, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    assert not session.run(f"%xdel {line}")
    captured = capsys.readouterr()
    assert said in captured.out + captured.err
    assert "Traceback" not in captured.out + captured.err


def test_without_xleak_loaded_the_function_says_so() -> None:
    with pytest.raises(RuntimeError, match="load_ext xleak"):
        xleak.forget("x")


# --- numbers that no cell has --------------------------------------------------------------------

FAR = 99_999_999_999_999_999_999


def test_an_entry_with_a_number_that_no_cell_has_is_nobody_s_leak_and_can_be_deleted(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run(f"Out[{FAR}] = memoryview(bytearray(4 << 20))")
    session.run("%leakcheck")
    assert session.leaks() == {}
    assert session.run(f"%xdel Out[{FAR}]")
    assert session.run("assert not Out")
    shown = capsys.readouterr()
    assert f"Out[{FAR}]: dropped Out[{FAR}]" in shown.out
    assert "TypeError" not in shown.out + shown.err
    assert "xleak failed" not in shown.out + shown.err


@pytest.mark.parametrize("target", [f"Out[{FAR}]", f"_{FAR}", "Out[" + "9" * 5_000 + "]"])
def test_an_entry_that_is_not_there_is_one_sentence_whatever_its_number(
    session: Session, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    session.run("bytearray(4 << 20);")
    session.run(f"%xdel {target}")
    shown = capsys.readouterr()
    assert "UsageError: " in shown.err
    assert "Traceback" not in shown.out + shown.err and "limit" not in shown.err


def test_a_name_of_thousands_of_digits_is_no_entry(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    assert session.run(f"_{'9' * 5_000} = 1; _{'9' * 5_000}")
    assert "xleak failed" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "magic", ["%xdel tpyo", "%memreport tpyo", "%xdel -n tpyo", "%xdel Out[77]"]
)
def test_a_name_that_is_not_there_leaves_no_value_in_the_frames_of_the_error(
    session: Session, magic: str
) -> None:
    session.run("import weakref, numpy as np\nbig = np.ones(1000)\nalive = weakref.ref(big)")
    session.run(magic)
    session.run("del big")
    assert session.shell.user_ns["alive"]() is None
