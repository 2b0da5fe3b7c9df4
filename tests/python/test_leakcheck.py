"""`%leakcheck`, `%%leakcheck` and `%xleak`, in a shell of their own process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from shell_session import session
from verdict_samples import cell, finding, verdict
from xleak.magics.leakcheck import cell_report, parse, session_report

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "share" / "comm" / "verdict.v1.schema.json").read_text()
)
LEAK = """
run("import numpy")
run("rows = numpy.ones(4 << 20)")
run("rows")
"""


def last_json(printed: str) -> Any:
    return json.loads(printed[printed.index("{") :])


# --- %leakcheck ----------------------------------------------------------------------------------


def test_a_clean_session_has_no_leak() -> None:
    assert "no leak found" in session("run('x = 1'); run('%leakcheck')")


def test_a_leak_of_the_session_is_named_with_its_repair() -> None:
    printed = session(LEAK + "run('del rows'); run('%leakcheck')")
    assert "1 warning" in printed
    assert "%xdel Out[3]" in printed


def test_json_is_the_verdict_of_the_schema() -> None:
    shape = last_json(session(LEAK + "run('del rows'); run('%leakcheck --json')"))
    jsonschema.validate(shape, SCHEMA)
    assert [found["code"] for found in shape["findings"]] == ["XL401"]
    assert [cell["status"] for cell in shape["cells"]] == ["ok"] * 4


def test_explain_prints_what_a_rule_means() -> None:
    assert "# Big value in the output cache (XL401)" in session("run('%leakcheck --explain XL401')")


@pytest.mark.parametrize(
    "line", ["%leakcheck --nosuch", "%leakcheck --explain", "%leakcheck --explain XL999"]
)
def test_bad_arguments_are_one_sentence(line: str) -> None:
    printed = session(f"print(run({line!r}).success)")
    assert "Traceback" not in printed and printed.rstrip().endswith("False")


def test_notes_are_counted_and_shown_on_request() -> None:
    whole = verdict([cell(1)], [finding(severity="note", message="a quiet one")])
    assert "a quiet one" not in session_report(whole, with_notes=False)
    assert "1 note not shown" in session_report(whole, with_notes=False)
    assert "a quiet one" in session_report(whole, with_notes=True)


def test_the_options_of_a_line_are_read_in_any_order() -> None:
    assert parse("--all --json") == parse("--json --all")


# --- %%leakcheck ---------------------------------------------------------------------------------


def test_a_marked_cell_reports_below_it_what_it_kept() -> None:
    printed = session(LEAK + "run('%%leakcheck\\ndel rows')")
    assert "cell 4: kept" in printed
    assert "%xdel Out[3]" in printed


def test_a_marked_cell_is_silent_about_what_others_did() -> None:
    printed = session(LEAK + "run('del rows'); print('HERE'); run('%%leakcheck\\ny = 1')")
    assert "no leak found" in printed.partition("HERE")[2]


def test_a_marked_cell_runs_once_and_shows_its_last_value() -> None:
    printed = session("run('n = 0'); run('%%leakcheck\\nn += 1\\nn'); print(shell.user_ns['Out'])")
    assert "Out[2]: 1" in printed
    assert "{2: 1}" in printed


def test_a_marked_cell_counts_and_is_remembered_as_any_other() -> None:
    printed = session(
        """
        run("%%leakcheck\\nx = 1")
        print(shell.execution_count, shell.history_manager.input_hist_raw[1:])
        """
    )
    assert "2 ['%%leakcheck\\nx = 1']" in printed.replace("\\\\n", "\\n")


def test_a_semicolon_still_hides_the_value_of_a_marked_cell() -> None:
    assert "{}" in session("run('%%leakcheck\\n41 + 1;'); print(shell.user_ns['Out'])")


def test_an_exception_of_a_marked_cell_is_the_cells_own() -> None:
    printed = session("print(type(run('%%leakcheck\\n\\n1 / 0').error_in_exec).__name__)")
    assert printed.rstrip().endswith("ZeroDivisionError")
    # The traceback holds the user's line by its number in the cell, and no frame of xleak's.
    assert "----> 3 1 / 0" in printed
    assert "leakcheck.py" not in printed
    assert "cell 1: kept" in printed


def test_a_marked_cell_may_await_at_top_level() -> None:
    printed = session("run('%%leakcheck\\nimport asyncio\\nawait asyncio.sleep(0, 42)')")
    assert "42" in printed


def test_another_cell_magic_may_follow_the_mark() -> None:
    printed = session(
        """
        run("%%leakcheck\\n%%capture kept\\nprint(1)")
        print(repr(shell.user_ns["kept"].stdout))
        """
    )
    assert r"'1\n'" in printed


def test_a_mark_below_another_cell_magic_reports_too() -> None:
    printed = session("run('%%time\\n%%leakcheck\\nx = 1'); print('x' in shell.user_ns)")
    assert "cell 1: kept" in printed and printed.rstrip().endswith("True")


def test_a_mark_with_arguments_is_refused_and_the_cell_does_not_run() -> None:
    printed = session("run('%%leakcheck --all\\nx = 1'); print('x' in shell.user_ns)")
    assert printed.rstrip().endswith("False")


def test_the_report_of_a_cell_has_its_numbers_and_what_it_caused() -> None:
    whole = verdict([cell(2, 10, 20), cell(3, 20, 20)], [finding()])
    assert "cell 2: kept +10 MiB" in cell_report(whole, 2)
    assert "XL401" in cell_report(whole, 2)


# --- %xleak --------------------------------------------------------------------------------------


def test_xleak_alone_prints_help() -> None:
    assert "%xleak policy" in session("run('%xleak')")


def test_policy_off_stops_the_accounting_and_report_starts_it_again() -> None:
    printed = session(
        """
        run("x = 1"); run("%xleak policy off"); run("y = 2"); run("%xleak policy report")
        run("z = 3"); run("%leakcheck --json")
        """
    )
    counts = [cell["execution_count"] for cell in last_json(printed)["cells"]]
    assert 1 in counts and 5 in counts and 3 not in counts


def test_a_report_says_when_cells_are_not_watched() -> None:
    off = session("run('%xleak policy off'); run('%leakcheck')")
    assert "Cells are not watched now" in off
    assert "not watched" not in session("run('%leakcheck')")


def test_env_says_what_a_bug_report_needs() -> None:
    printed = session("run('%xleak env')")
    assert all(word in printed for word in ("python", "ipython", "torch", "memory", "XL401"))


@pytest.mark.parametrize(
    "line", ["%xleak nosuch", "%xleak policy nosuch", "%xleak env nosuch", "%memreport nosuch"]
)
def test_what_it_does_not_know_is_one_sentence(line: str) -> None:
    printed = session(f"print(run({line!r}).success)")
    assert "Traceback" not in printed and printed.rstrip().endswith("False")
