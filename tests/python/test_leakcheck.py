"""`%leakcheck`, `%%leakcheck` and `%xleak`, in a shell of their own process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from shell_session import session
from verdict_samples import MIB, cell, finding, verdict
from xleak.magics.leakcheck import parse, session_report
from xleak.magics.marked_cell import cell_report
from xleak.shell.grown import Grown

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
    assert "No leak found" in session("run('x = 1'); run('%leakcheck')")


def test_without_a_leak_what_the_cells_kept_is_said_and_who_holds_it() -> None:
    cells = "import numpy\nrows = numpy.ones(8 << 20); again = [rows]; few = numpy.ones(1 << 18)"
    printed = session(f"run({cells!r}); run('%leakcheck')")
    assert "No leak found\n\nThe process grew by " in printed
    assert "names that hold most: rows 64 MiB, few 2 MiB" in printed


def test_what_was_dismissed_is_counted_and_shown_by_all() -> None:
    dismiss = "watching = watcher(); watching.dismissed = {('XL401', 'Out[3]')}"
    start = f"from xleak.shell.watcher import watcher\n{LEAK}run('del rows')\n{dismiss}\n"
    printed = session(f"{start}run('%leakcheck')")
    assert "No leak found" in printed
    assert "1 dismissed not shown; %leakcheck --all shows them too" in printed
    assert "1 warning" in session(f"{start}run('%leakcheck --all')")


def test_a_leak_of_the_session_is_named_with_its_repair() -> None:
    printed = session(LEAK + "run('del rows'); run('%leakcheck')")
    assert "1 warning" in printed
    assert "%xdel Out[3]" in printed


def test_json_is_the_verdict_of_the_schema() -> None:
    shape = last_json(session(LEAK + "run('del rows'); run('%leakcheck --json')"))
    jsonschema.validate(shape, SCHEMA)
    assert [found["code"] for found in shape["findings"]] == ["XL401"]
    assert [cell["status"] for cell in shape["cells"]] == ["ok"] * 4


def test_the_report_is_written_as_a_page_with_the_lines_of_the_cells(tmp_path: Path) -> None:
    target = tmp_path / "two words.html"
    printed = session(LEAK + f"run('del rows'); run('%leakcheck --html {target}')")
    assert f"written to {target}" in printed
    page = target.read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "XL401" in page and "numpy.ones(4 &lt;&lt; 20)" in page


def test_a_page_goes_into_no_file_of_another_kind_and_into_no_folder_that_is_not_there(
    tmp_path: Path,
) -> None:
    notebook = tmp_path / "train.ipynb"
    notebook.write_text("{}")
    nowhere = tmp_path / "nowhere" / "report.html"
    for file, why in (
        (notebook, "takes the file to write, such as report.html"),
        (nowhere, f"cannot write {nowhere}"),
    ):
        # An error of usage goes to stderr.
        printed = session(
            f"""
            import contextlib, io
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                run('%leakcheck --html {file}')
            print(said.getvalue())
            """
        )
        assert why in printed
    assert notebook.read_text() == "{}"


SUM = """
run("import torch")
run("net = torch.nn.Linear(2, 2)")
run("total = 0.0\\nfor batch in range(20):\\n    total += net(torch.rand(2)).mean()")
"""


def test_what_only_the_source_says_is_shown_when_it_is_asked_for() -> None:
    printed = session(SUM + "run('%leakcheck'); print('===='); run('%leakcheck --notes')")
    quiet, asked = printed.split("====")
    assert "XL203" not in quiet
    assert "XL203 cell 3, line 3 (not seen in memory): `total`" in asked


def test_a_cell_that_ran_again_is_read_once_as_it_was_last() -> None:
    printed = session(
        SUM + "run('total = 0.0')\n" + SUM.strip().splitlines()[-1] + "\nrun('%leakcheck --notes')"
    )
    assert printed.count("XL203") == 1
    assert "XL203 cell 5" in printed


def test_a_source_that_says_nothing_more_says_so() -> None:
    assert "The source says nothing" in session("run('x = 1'); run('%leakcheck --notes')")


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
    assert "a quiet one" not in session_report(whole, all_of_them=False).plain()
    assert "1 note not shown" in session_report(whole, all_of_them=False).plain()
    assert "a quiet one" in session_report(whole, all_of_them=True).plain()


def test_the_ten_that_keep_most_are_shown_and_the_others_counted() -> None:
    many = [
        finding(bytes=size * MIB, holders=[f"Out[{size}]"], message=f"entry {size} here")
        for size in range(1, 15)
    ]
    printed = session_report(verdict([cell(1)], many), all_of_them=False).plain()
    assert printed.startswith("14 warnings")
    assert "entry 14 here" in printed and "entry 5 here" in printed
    assert "entry 4 here" not in printed
    assert "4 more that keep 10 MiB not shown; %leakcheck --all shows them too" in printed
    assert "entry 1 here" in session_report(verdict([cell(1)], many), all_of_them=True).plain()


def test_findings_are_grouped_by_rule_and_by_the_name_that_holds_them() -> None:
    found = [
        finding(bytes=1 * MIB, holders=["Out[2]"], message="small entry"),
        finding(
            code="XL101", slug="graph_kept_in_container", holders=["model.kept"], bytes=9 * MIB
        ),
        finding(bytes=5 * MIB, holders=["Out[7]"], message="large entry"),
        finding(bytes=2 * MIB, holders=["the last traceback"]),
    ]
    printed = session_report(verdict([cell(1)], found), all_of_them=False).plain()
    heads = [line for line in printed.splitlines() if line.startswith("XL")]
    assert heads == [
        "XL101 graph kept in container: model",
        "XL401 big value in output cache: Out  6 MiB in 2 places",
        "XL401 big value in output cache: the last traceback",
    ]
    assert printed.index("large entry") < printed.index("small entry")


def test_a_holder_of_unknown_size_is_last_and_not_counted_as_nothing() -> None:
    found = [finding(bytes=None, message="unknown one"), finding(bytes=MIB, message="known one")]
    printed = session_report(verdict([cell(1)], found), all_of_them=False).plain()
    assert printed.index("known one") < printed.index("unknown one")
    only = session_report(verdict([cell(1)], [finding(bytes=None)] * 2), all_of_them=False).plain()
    assert "? in 2 places" in only


def test_the_options_of_a_line_are_read_in_any_order() -> None:
    assert parse("--all --json") == parse("--json --all")


# --- %%leakcheck ---------------------------------------------------------------------------------


def test_a_marked_cell_reports_below_it_what_it_kept() -> None:
    printed = session(LEAK + "run('%%leakcheck\\ndel rows')")
    assert "cell 4: kept" in printed
    assert "%xdel Out[3]" in printed


def test_a_marked_cell_is_silent_about_what_others_did() -> None:
    printed = session(LEAK + "run('del rows'); print('HERE'); run('%%leakcheck\\ny = 1')")
    assert "No leak found" in printed.partition("HERE")[2]


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
    assert "cell 2: kept ?; process +10 MiB" in cell_report(whole, 2, [])
    assert "XL401" in cell_report(whole, 2, [])


def test_a_marked_cell_names_who_holds_what_it_kept_largest_first() -> None:
    printed = session(
        """
        run("import numpy as np; cache = {}; old = np.ones(1 << 20)")
        run("%%leakcheck\\ncache['a'] = np.ones(2 << 20); new = np.ones(1 << 20); other = old")
        """
    )
    told = printed[printed.index("held by, more than before the cell:") :].splitlines()[1:3]
    assert [line.split() for line in told] == [
        ["16", "MiB", "cache", "(dict)"],
        ["8", "MiB", "new", "(numpy.ndarray)"],
    ]
    assert "old" not in printed


def test_a_value_that_two_names_share_is_told_once_with_both() -> None:
    printed = session("run('import numpy as np'); run('%%leakcheck\\na = b = np.ones(1 << 20)')")
    assert "8 MiB  a (numpy.ndarray), also held by b" in printed
    assert "b (numpy" not in printed


def test_a_name_bound_anew_is_told_by_what_it_holds_more() -> None:
    printed = session(
        "run('import numpy as np; a = np.ones(1 << 20)')\nrun('%%leakcheck\\na = np.ones(3 << 20)')"
    )
    assert "16 MiB  a (numpy.ndarray)" in printed


def test_a_cell_that_kept_nothing_names_no_holder() -> None:
    printed = session("run('%%leakcheck\\nx = 1')")
    assert "held by" not in printed
    assert "who holds it is unknown" not in printed


def test_tensors_of_a_marked_cell_are_told_by_torch_s_own_allocator() -> None:
    printed = session(
        """
        run("import torch")
        run("%%leakcheck\\nkept = torch.zeros(1 << 20); torch.zeros(2 << 20); None")
        """
    )
    assert "tensors: allocated 12 MiB, freed 8 MiB, kept +4 MiB, peak 12 MiB" in printed
    assert "4 MiB  kept (Tensor)" in printed


def test_without_torch_nothing_is_said_of_tensors() -> None:
    assert "tensors" not in session("run('%%leakcheck\\nx = 1')")


def test_tensors_that_nobody_counts_are_unknown_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("xleak.shell.tensors.why_unknown", lambda: "tensors are unknown: why.")
    assert "tensors are unknown: why." in cell_report(verdict([cell(2)]), 2, [])


def test_a_heap_that_could_not_be_read_is_said() -> None:
    assert "who holds it is unknown" in cell_report(verdict([cell(2)]), 2, None)


def test_a_holder_s_name_cannot_drive_a_terminal() -> None:
    shown = cell_report(verdict([cell(2)]), 2, [Grown("\x1b[31m", "<b>", MIB, [])])
    assert "\x1b" not in shown


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
