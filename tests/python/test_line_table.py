"""The table of `%memreport --lines`."""

from __future__ import annotations

from xleak.render.lines import plain
from xleak.shell.lines import LineAccount, LineUse

MIB = 1 << 20


def use(line: int, source: str = "x = f()", **changed: int) -> LineUse:
    sizes = {"kept_bytes": MIB, "peak_bytes": 2 * MIB} | changed
    return LineUse(7, "/tmp/cell.py", line, source, **sizes)


def test_each_line_has_its_cell_what_it_keeps_and_its_peak() -> None:
    table = plain(LineAccount([use(3)], 0))
    assert table.splitlines() == [
        " kept   peak  where           source",
        "1 MiB  2 MiB  cell 7, line 3  x = f()",
    ]


def test_a_line_of_a_module_has_its_file() -> None:
    of_module = LineUse(None, "/home/me/data.py", 9, "", MIB, 0)
    assert "data.py, line 9" in plain(LineAccount([of_module], 0))


def test_more_lines_than_a_screen_shows_are_added_up() -> None:
    table = plain(LineAccount([use(line) for line in range(25)], 0))
    assert len(table.splitlines()) == 22
    assert table.splitlines()[-1] == "and 5 more lines, which keep 5 MiB"


def test_what_no_line_of_the_user_s_made_is_a_sentence() -> None:
    table = plain(LineAccount([use(3)], 3 * MIB))
    assert table.splitlines()[-1].startswith("3 MiB were made where no line of yours ran")


def test_a_source_cannot_drive_the_terminal() -> None:
    assert "\x1b" not in plain(LineAccount([use(3, "x = '\x1b[2J'")], 0))


def test_without_a_line_a_sentence_says_what_is_counted() -> None:
    assert "64 KiB" in plain(LineAccount([], 0))
