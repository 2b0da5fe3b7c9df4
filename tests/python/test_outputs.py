"""What the output cache alone keeps is a leak; what a name still reaches is none."""

from __future__ import annotations

import pytest
from shells import MIB, Session
from values import VALUES
from xleak import _native
from xleak.shell.counters import read_counters, returned


@pytest.fixture(params=VALUES, ids=lambda name: name.replace(" ", "-"))
def shown(request: pytest.FixtureRequest, session: Session) -> tuple[Session, int]:
    setup, make, show, size = VALUES[request.param]
    assert session.run(f"MIB = 1 << 20\n{setup}")
    assert session.run(make)
    assert session.run(show)
    return session, size


def test_a_shown_value_leaks_with_its_size_once_nothing_of_the_user_s_leads_to_it(
    shown: tuple[Session, int],
) -> None:
    session, size = shown
    entry = session.entry()
    assert session.leaks() == {}
    session.run("kept = {'runs': [x]}; del x")
    assert session.leaks() == {}
    session.run("del kept")
    assert list(session.leaks()) == [entry]
    assert size <= session.leaks()[entry] <= size * 1.6
    session.run(f"%xdel {entry}")
    assert session.leaks() == {}


@pytest.mark.parametrize("goes", ["del x", "x = None"])
def test_rebinding_the_name_is_as_good_as_deleting_it(session: Session, goes: str) -> None:
    session.run("x = bytearray(4 << 20)\nx")
    entry = session.entry()
    session.run(goes)
    assert list(session.leaks()) == [entry]


# --- several names, several entries ------------------------------------------------------------


def test_what_the_user_put_into_the_cache_is_no_entry(session: Session) -> None:
    session.run("x = memoryview(bytearray(4 << 20))\nx")
    entry = session.entry()
    session.run(
        "class Key:\n    def __format__(self, spec): raise AssertionError('xleak ran user code')\n"
        "for key in ('mine', Key()): get_ipython().user_ns['_oh'][key] = bytearray(4 << 20)"
    )
    session.run("del x")
    assert list(session.leaks()) == [entry]


def test_a_second_name_keeps_a_value_from_leaking(session: Session) -> None:
    session.run("a = b = memoryview(bytearray(4 << 20))\na")
    session.run("del a")
    assert session.leaks() == {}
    session.run("del b")
    assert list(session.leaks()) == [session.entry()]


def test_a_value_that_was_shown_twice_is_counted_once(session: Session) -> None:
    session.run("x = [memoryview(bytes(4 << 20))]")
    session.run("len(x), x")
    session.run("x")
    session.run("del x")
    assert 4 * MIB <= sum(session.leaks().values()) < 5 * MIB


def test_a_view_beside_its_base_is_counted_once(session: Session) -> None:
    session.run("import numpy as np; q = np.zeros((1024, 1024))")
    session.run("q")
    session.run("q.T")
    session.run("del q")
    for cell in ("1", "2", "3", "4"):
        session.run(cell)
        assert list(session.leaks().values()) == [pytest.approx(8 * MIB, rel=0.01)]


def test_two_views_of_a_deleted_base_are_one_leak(session: Session) -> None:
    session.run("import numpy as np; q = np.zeros((1024, 1024))")
    session.run("q.T")
    session.run("q[3:]")
    session.run("del q")
    assert list(session.leaks().values()) == [pytest.approx(8 * MIB, rel=0.01)]


def test_a_small_value_is_no_leak(session: Session) -> None:
    session.run("bytearray(100_000)")
    assert session.leaks() == {}


def test_a_tensor_that_the_graph_of_a_named_loss_needs_is_no_leak(session: Session) -> None:
    session.run("import torch; w = torch.ones(1 << 20, requires_grad=True); y = w.exp()")
    session.run("y")
    session.run("loss = (y * y).sum(); del y")
    assert session.leaks() == {}


def test_what_the_graph_of_a_shown_tensor_alone_keeps_is_counted_with_it(session: Session) -> None:
    session.run("import torch; layer = torch.nn.Linear(1024, 1024)")
    session.run("rows = torch.rand(4096, 1024); out = layer(rows)")
    session.run("out")
    entry = session.entry()
    session.run("del out")
    # The graph needs them for the gradient of the weight, and so does the name.
    assert session.leaks() == {entry: pytest.approx(16 * MIB, rel=0.01)}
    session.run("del rows")
    assert session.leaks() == {entry: pytest.approx(32 * MIB, rel=0.01)}
    before = read_counters()
    session.run(f"%xdel {entry}")
    assert returned(before, read_counters())["malloc"] == pytest.approx(32 * MIB, rel=0.01)


def test_a_small_prediction_is_judged_by_the_graph_behind_it(session: Session) -> None:
    session.run("import torch; net = torch.nn.Linear(2000, 2)")
    session.run("rows = torch.rand(1000, 2000); out = net(rows)")
    session.run("out")
    entry = session.entry()
    assert session.leaks() == {}
    session.run("del out, rows")
    assert session.leaks() == {entry: pytest.approx(8_000_000, rel=0.01)}


def test_a_shown_loss_leaks_what_its_graph_keeps_though_no_name_is_deleted(
    session: Session,
) -> None:
    session.run("import torch; net = torch.nn.Linear(2000, 2); rows = torch.rand(1000, 2000)")
    session.run("net(rows).mean()")
    entry = session.entry()
    assert session.leaks() == {}
    session.run("rows = torch.rand(1)")
    assert session.leaks() == {entry: pytest.approx(8_000_000, rel=0.01)}


def test_entries_that_retain_one_graph_are_one_leak_and_its_fix_releases_all_of_them(
    session: Session,
) -> None:
    session.run("import torch; net = torch.nn.Linear(2000, 2)")
    session.run("rows = torch.rand(1000, 2000); out = net(rows); loss = out.mean()")
    session.run("out")
    first = session.entry()
    session.run("loss")
    second = session.entry()
    session.run("del out, rows, loss")
    assert session.leaks() == {first: pytest.approx(8_000_000, rel=0.01)}
    (found,) = [it for it in _native.findings() if it.code == "XL401"]
    assert f"{first} and {second} together keep" in found.message
    assert found.fixes[0].code == f"%xdel {first} {second}"
    before = read_counters()
    session.run(found.fixes[0].code)
    assert returned(before, read_counters())["malloc"] == pytest.approx(8_000_000, rel=0.01)
    assert session.leaks() == {}


def test_a_frame_made_from_a_shown_one_shares_it_and_keeps_it_from_leaking(
    session: Session,
) -> None:
    session.run("import polars as pl; df = pl.DataFrame({'a': range(1 << 20)})")
    session.run("df")
    session.run("df = df.with_columns(b=1)")
    assert session.leaks() == {}


# --- where the shell keeps things --------------------------------------------------------------


def test_a_value_that_is_gone_from_out_but_not_from_the_hidden_namespace_leaks_on(
    session: Session,
) -> None:
    session.run("memoryview(bytearray(4 << 20))")
    entry = session.entry()
    session.run("Out.clear()")
    session.run("None")
    assert list(session.leaks()) == [entry]
    session.run(f"%xdel {entry}")
    assert session.leaks() == {}


def test_a_variable_of_the_user_s_own_that_looks_like_an_entry_keeps_its_value(
    session: Session,
) -> None:
    session.run("x = memoryview(bytearray(4 << 20))\nx")
    session.run("_77 = x; del x")
    assert session.leaks() == {}


def test_an_underscore_that_the_user_assigned_is_a_name(session: Session) -> None:
    session.run("x = memoryview(bytearray(4 << 20))\nx")
    session.run("1")
    session.run("_ = x; del x")
    assert session.leaks() == {}


def test_a_name_that_a_variable_inspector_made_is_not_the_user_s(session: Session) -> None:
    session.run("x = memoryview(bytearray(4 << 20))\nx")
    session.ask("_inspected = x")
    session.run("del x")
    assert list(session.leaks()) == [session.entry()]


@pytest.mark.parametrize("silent", [True, False])
def test_a_tool_s_name_becomes_the_user_s_once_a_cell_assigns_it(
    session: Session, silent: bool
) -> None:
    session.run("x = memoryview(bytearray(4 << 20)); y = memoryview(bytearray(4 << 20))\nx")
    session.ask("found = y", silent)
    session.run("found = x; del x")
    assert session.leaks() == {}


def test_a_cell_s_own_run_cell_is_the_user_s(session: Session) -> None:
    session.run("x = memoryview(bytearray(4 << 20))\nx")
    session.run("get_ipython().run_cell('kept = x')")
    session.run("del x")
    assert session.leaks() == {}


# --- what the source uses ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "use", ["y = len(_)", "y = len(_{n})", "y = len(Out[{n}])", "y = len(_oh[{n}])"]
)
def test_an_entry_that_the_source_uses_is_no_leak(session: Session, use: str) -> None:
    session.run("bytearray(100)")
    session.run("x = memoryview(bytearray(4 << 20))\nx")
    number = max(session.shell.user_ns["Out"])
    session.run(use.format(n=number) + "; del x")
    assert session.leaks() == {}


def test_an_underscore_stands_for_the_entry_that_it_meant_when_the_cell_ran(
    session: Session,
) -> None:
    session.run("x = memoryview(bytearray(4 << 20))\nx")
    used = session.entry()
    session.run("y = len(_)")
    session.run("z = memoryview(bytearray(4 << 20))\nz")
    session.run("del x, z")
    assert list(session.leaks()) == [session.entry()]
    assert used not in session.leaks()


# --- what is said ------------------------------------------------------------------------------


def test_a_leak_below_the_notice_s_size_prints_nothing(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("x = memoryview(bytearray(4 << 20))\nx")
    session.run("del x")
    assert session.leaks()
    assert "xleak" not in capsys.readouterr().out


def test_each_leak_worth_a_line_prints_one_and_none_prints_two(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.watcher.settings.notice_bytes = 8 * MIB
    for size in (16, 24, 32):
        session.run(f"x = memoryview(bytearray({size} << 20))\nx;")
        session.run("[x]")
        session.run("del x")
    printed = [line for line in capsys.readouterr().out.splitlines() if "XL401" in line]
    assert len(printed) == 3
    for size, line in zip((16, 24, 32), printed, strict=True):
        assert f"{size} MiB" in line


def test_where_no_reply_is_waited_for_the_look_follows_the_cell_at_once(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.watcher.settings.notice_bytes = MIB
    session.run("x = {i: [i] for i in range(700_000)}")
    session.run("[x][0:1]")
    session.shell.run_cell("del x; print('the cell')", store_history=True)
    assert list(session.leaks()) == [session.entry()]
    printed = capsys.readouterr().out
    assert printed.index("the cell") < printed.index("XL401")


def test_a_look_that_is_cut_off_decides_nothing_and_starts_again(session: Session) -> None:
    session.run("x = {i: [i] for i in range(700_000)}")
    session.run("[x][0:1]")
    session.watcher.look_at_once = lambda: None  # type: ignore[method-assign]
    session.shell.run_cell("del x", store_history=True)
    assert not session.watcher.idle(lambda: True)
    assert session.leaks() == {}
    assert session.watcher.idle(lambda: False)
    assert list(session.leaks()) == [session.entry()]
