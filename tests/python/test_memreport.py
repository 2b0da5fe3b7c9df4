"""`%memreport` as a notebook and as a terminal show it."""

from __future__ import annotations

from shell_session import session

# Prints every mime bundle that is displayed.
SHOW = """
def show(data, *rest, **more):
    print(sorted(data), data["text/plain"], data["text/html"])
shell.display_pub.publish = show
"""


def test_the_session_is_shown_by_cell_as_text_and_as_html_with_a_bar_per_cell() -> None:
    printed = session(SHOW + "run('a = 1'); run('b = 2'); run('%memreport')")
    assert "['text/html', 'text/plain']" in printed
    assert "2 cells in" in printed
    assert printed.count("<svg") == 2


def test_a_cell_is_shown_with_its_source_as_data() -> None:
    printed = session(SHOW + "run('a = \"<b>\"'); run('%memreport')")
    assert 'a = "<b>"' in printed
    assert "a = &quot;&lt;b&gt;&quot;" in printed


def test_before_the_first_cell_there_is_nothing_to_report() -> None:
    assert "No cell has ended yet" in session("run('%memreport')")


def test_a_report_leaves_no_entry_in_the_output_cache() -> None:
    assert "{}" in session("run('a = 1'); run('%memreport'); print(shell.user_ns['Out'])")


def test_names_are_shown_with_what_only_they_hold() -> None:
    printed = session(
        SHOW + "run('import numpy as np; alone = np.ones(500_000)')\n"
        "run('first = np.ones(300_000); second = [first]')\nrun('%memreport')"
    )
    rows = {line.split()[0]: line.split()[2:] for line in printed.splitlines() if "ndarray" in line}
    assert rows["alone"][:4] == ["3.8", "MiB", "3.8", "MiB"]
    assert rows["first"][:4] == ["2.3", "MiB", "0", "B"]


def test_a_name_is_told_with_what_comes_back_and_where_the_most_of_it_is() -> None:
    printed = session(
        'run(\'import numpy as np; model = {"w": [np.ones(500_000)], "b": 1}\')\n'
        "run('%memreport model')"
    )
    assert "3.8 MiB come back if `model` goes" in printed
    assert "model['w'][0]" in printed


def test_a_name_whose_value_others_hold_is_told_who_they_are() -> None:
    printed = session(
        "run('import numpy as np; x = np.ones(500_000)')\nrun('x')\nrun('views = {1: x[:10]}')\n"
        "run('%memreport x')"
    )
    assert "also held by" in printed
    assert "Out[2]" in printed
    assert "views[1].base" in printed
    assert "running function" not in printed


def test_an_entry_of_the_output_cache_is_a_name_too() -> None:
    script = "run('import numpy as np; np.ones(500_000)')\nrun('%memreport Out[1]')\n"
    assert "3.8 MiB come back if `Out[1]` goes" in session(script)
    assert "3.8 MiB come back if `Out[1]` goes" in session(
        script.replace("report Out[1]", "report _1")
    )


def test_a_name_that_is_not_there_is_told_in_one_sentence() -> None:
    printed = session(
        "import sys; sys.stderr = sys.stdout\nrun('%memreport nothing')\nrun('%memreport a b')"
    )
    assert "name 'nothing' is not defined" in printed
    assert "takes one name or nothing, got 'a b'" in printed


def test_a_report_changes_no_name_and_no_reference() -> None:
    script = (
        "run('import sys; kept = [object()]')\n"
        "before = sys.getrefcount(shell.user_ns['kept'][0]), sorted(shell.user_ns)\n"
        "run('%memreport'); run('%memreport kept')\n"
        "after = sys.getrefcount(shell.user_ns['kept'][0]), sorted(shell.user_ns)\n"
        "print('counts', before[0] == after[0])\n"
        "print('names', {n for n in set(before[1]) ^ set(after[1]) if not n.startswith('_i')})"
    )
    printed = session("import sys\n" + script)
    assert "counts True" in printed
    assert "names set()" in printed


def test_a_name_s_type_is_data_in_the_page() -> None:
    printed = session(
        SHOW + "run('import numpy as np; Odd = type(\"<b>\", (), {}); odd = Odd()')\n"
        "run('odd.values = np.ones(500_000)')\nrun('%memreport')"
    )
    assert "&lt;b&gt;" in printed
    assert "<td><b></td>" not in printed


def test_what_is_unknown_without_the_module_for_torch_is_said() -> None:
    printed = session(
        "from xleak.shell import tensors; tensors.why_unknown = lambda: 'no tensors here.'\n"
        "run('a = 1'); run('%memreport')"
    )
    assert "xleak: no tensors here." in printed
