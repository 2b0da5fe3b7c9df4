"""Cells of xleak's magics alone are its own: they keep number and row, and count in no sum."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from shells import Session
from verdict_samples import MIB, cell, finding, verdict
from xleak import _native
from xleak.cli.cell_facts import KEY, write_facts
from xleak.diagnosis.evidence import _growth
from xleak.magics.oom_page import _peak
from xleak.render import chart, html, text
from xleak.shell.out_of_memory.autopsy import growth
from xleak.shell.own_cells import is_own
from xleak.verdict import Host, Verdict, cell_shape, from_json, session_verdict, to_json

OWN = {"own": True}


# --- by the source -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "%leakcheck",
        "# what stays?\n\n%leakcheck --all  \n",
        "%memreport x\n# and then\n%xdel x\n%release_cache",
        "%xleak journal",
        "%load_ext xleak",
        "  %leakcheck\n  %xdel x",
        "leakcheck",
        "memreport Out[3]",
        "leakcheck --all",
    ],
)
def test_a_cell_of_our_magics_alone_is_our_own(session: Session, source: str) -> None:
    assert is_own(session.shell, source)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "# nothing",
        "x = 1",
        "%leakcheck\nx = 1",
        "x = 1\n%leakcheck",
        "%%leakcheck\nx = 1",
        "%%memreport --snapshot a.json\nx = 1",
        "found = %leakcheck",
        "%time %leakcheck",
        "%leakcheck?",
        "if True:\n    %leakcheck",
        "%load_ext autoreload",
        "%load_ext autoreload\n%load_ext xleak",
        "%who",
        "!ls",
        "leakcheck = 3",
        "leakcheck == 3",
        "leakcheck\nx = 1",
        "%leakcheck\n)",
        "_leakcheck",
        "get_ipython().run_line_magic('leak' + 'check', '')",
    ],
)
def test_every_other_cell_is_the_users(session: Session, source: str) -> None:
    assert not is_own(session.shell, source)


def test_a_name_of_the_users_is_no_magic(session: Session) -> None:
    session.run("leakcheck = 3")
    assert not is_own(session.shell, "leakcheck")
    assert is_own(session.shell, "%leakcheck")


def test_without_automagic_a_bare_word_is_the_users(session: Session) -> None:
    session.shell.automagic = False
    assert not is_own(session.shell, "leakcheck")


def test_a_magic_that_the_user_put_in_the_place_of_ours_is_theirs(session: Session) -> None:
    session.run("def leakcheck(line): pass\nget_ipython().register_magic_function(leakcheck)")
    session.run("del leakcheck")
    assert not is_own(session.shell, "%leakcheck")
    assert is_own(session.shell, "%memreport")


# --- in the session ------------------------------------------------------------------------------


def test_the_record_of_such_a_cell_says_so(session: Session) -> None:
    session.run("x = 1")
    first = _native.records()[-1].index
    for source in ("%leakcheck", "%leakcheck --bogus", "%leakcheck\ny = 1", "%xleak policy off"):
        session.run(source)
    assert [it.is_own for it in _native.records()[first - 1 :]] == [False, True, True, False, True]


def test_the_verdict_has_it_with_its_number(session: Session) -> None:
    session.run("x = 1")
    session.run("%leakcheck")
    users, own = to_json(session_verdict())["cells"][-2:]
    assert "own" not in users
    assert own["own"] is True
    assert own["execution_count"] == users["execution_count"] + 1
    assert cell_shape(_native.records()[-1])["own"] is True


def test_nothing_is_concluded_from_what_it_moved(session: Session) -> None:
    session.run("x = bytearray(9 << 20)")
    moved, _, _ = _native.change_of(_native.records()[-1].index)
    assert moved is not None and moved >= 9 * MIB
    session.run("%memreport")
    assert _native.change_of(_native.records()[-1].index) == (0, 0, 0)


def test_it_is_no_cell_that_keeps_memory_where_memory_runs_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def grown(index: int, own: bool) -> SimpleNamespace:
        sizes = {
            "resident_before_bytes": 0,
            "resident_after_bytes": index * MIB,
            "resident_peak_bytes": index * MIB,
        }
        return SimpleNamespace(index=index, is_own=own, status="ok", **sizes)

    monkeypatch.setattr(_native, "records", lambda: [grown(7, False), grown(9, True)])
    assert [it.index for it in growth("host", ())] == [7]
    assert _peak("host") == 7 * MIB


# --- in the report -------------------------------------------------------------------------------


def mixed() -> Verdict:
    return verdict(
        [
            cell(1, 100, 120),
            cell(2, 120, 180, own=True),
            cell(3, 180, 190),
            cell(4, 190, 170, own=True),
        ]
    )


def test_it_is_in_no_total_but_what_it_gave_back_was_the_users() -> None:
    summary = mixed().summary
    # 70 above the start, of which 60 are those of the first magic.
    assert summary.kept_bytes == 10 * MIB
    assert summary.peak_bytes == 190 * MIB
    assert "2 cells in 1.00 s, process +10 MiB, peak 190 MiB" in text.report(mixed(), {})


def test_a_session_of_our_own_cells_alone_kept_nothing() -> None:
    summary = verdict([cell(1, 100, 120, own=True)]).summary
    assert (summary.kept_bytes, summary.peak_bytes) == (0, None)


def test_one_of_unknown_size_takes_nothing_off() -> None:
    unknown = cell(2, None, None, own=True)
    assert verdict([cell(1, 100, 120), unknown, cell(3, 120, 130)]).summary.kept_bytes == 30 * MIB


def test_the_table_counts_it_below_and_names_its_number() -> None:
    lines = text.cell_table(mixed(), {}).splitlines()
    assert [line.split()[0] for line in lines] == ["cell", "1", "3", "and"]
    assert lines[-1] == "and 2 cells of xleak's own, in no sum: [2], [4]"
    assert "own" not in text.cell_table(verdict([cell(1)]), {})


def test_the_page_has_its_row_apart_and_closed() -> None:
    page = html.page(mixed(), {2: "%leakcheck"})
    shown, _, apart = page.partition('<details class="own">')
    assert "2 cells of xleak&#x27;s own" in apart
    assert 'id="cell-2"' not in shown and 'id="cell-2"' in apart
    assert 'id="cell-3"' in shown and 'id="cell-3"' not in apart
    assert "<details" not in html.page(verdict([cell(1)]), {})


def test_it_has_no_bar() -> None:
    found = [finding(cause_cell=1)]
    bars = chart.chart_of(replace(mixed(), findings=found)).bars
    assert [bar.cell for bar in bars] == [1, 3]


def test_it_is_no_run_of_a_cell_that_keeps_more_each_time() -> None:
    host = Host(heap_kept_bytes=2 * MIB)
    runs = [replace(cell(n), host=host) for n in (1, 2, 3)]
    sources = dict.fromkeys((1, 2, 3), "%memreport")
    assert [it.runs for it in _growth(runs, sources)] == [3]
    assert _growth([replace(it, own=True) for it in runs], sources) == []


def test_it_has_no_facts_in_a_saved_notebook() -> None:
    nbformat = pytest.importorskip("nbformat.v4", reason="xleak[run] is not installed here")
    notebook = nbformat.new_notebook(cells=[nbformat.new_code_cell(it) for it in "abcd"])
    write_facts(notebook, mixed())
    assert [KEY in it.metadata for it in notebook.cells] == [True, False, True, False]


def test_it_is_read_again_as_it_was_written() -> None:
    assert from_json(to_json(mixed())) == mixed()
