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
