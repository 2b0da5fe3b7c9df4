"""What people see: text for a terminal, HTML for a browser."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from verdict_samples import GPU, MIB, cell, finding, verdict
from xleak.render import html, text
from xleak.render.units import human_bytes, human_seconds, signed_bytes
from xleak.verdict import Cell, Failure, Fix, Host

NAMED = verdict([cell(2), cell(3)]).name_of

HOSTILE = "<img src=x onerror=alert(1)>\"'&\x1b[31m\ud800"


class Tags(HTMLParser):
    """Collects what a browser would make of the markup."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]


def tags(page: str) -> Tags:
    found = Tags()
    found.feed(page)
    return found


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (None, "?"),
        (0, "0 B"),
        (1023, "1023 B"),
        (64 * MIB, "64 MiB"),
        (1536 * MIB, "1.5 GiB"),
        (-2048, "-2 KiB"),
        (MIB - 1, "1 MiB"),
        (5000 << 40, "5000 TiB"),
    ],
)
def test_sizes_are_shown_in_the_unit_that_fits(size: int | None, shown: str) -> None:
    assert human_bytes(size) == shown


def test_a_change_has_a_sign_and_nothing_has_none() -> None:
    assert [signed_bytes(n) for n in (1, 0, -1, None)] == ["+1 B", "0 B", "-1 B", "?"]


def test_times_are_shown_in_minutes_from_a_hundred_seconds() -> None:
    assert [human_seconds(s) for s in (0.004, 12.34, 185.2, None)] == [
        "0.00 s",
        "12.3 s",
        "3 min 5 s",
        "?",
    ]


def test_the_table_shows_unknown_as_a_question_mark_and_what_did_not_run_as_empty() -> None:
    lines = text.cell_table(verdict([cell(1, None, 5), Cell(2)]), {}).splitlines()
    assert lines[1].split() == ["1", "ok", "0.50", "s", "?", "?", "?"]
    assert lines[2].split() == ["not", "run"]


def test_the_device_column_is_there_only_where_there_is_a_device() -> None:
    assert "device" not in text.cell_table(verdict([cell(1)]), {})
    assert "+5 MiB" in text.cell_table(verdict([cell(1, devices=[GPU])]), {})


def test_a_cell_is_shown_by_its_first_line_of_code() -> None:
    shown = text.cell_table(verdict([cell(1)]), {1: "\n# load\nframe = read()\nframe"})
    assert shown.endswith("frame = read()")


def test_a_finding_says_where_how_much_who_holds_it_and_what_to_type() -> None:
    shown = text.findings([finding()], NAMED)
    assert "XL401 warning  cell 2 line 1, kept after cell 3  64 MiB" in shown
    assert "held by Out → [2] → Tensor" in shown
    assert "Release it: %xdel Out[2]" in shown


def test_a_run_that_stopped_says_where_and_why() -> None:
    whole = replace(verdict([cell(1)]), failure=Failure("died", 1, "the kernel died"))
    assert "The run stopped in cell 1: the kernel died" in text.report(whole, {})
    assert "Stopped in cell 1: the kernel died" in html.page(whole, {})


def test_text_from_user_code_cannot_drive_the_terminal() -> None:
    shown = text.report(
        verdict([cell(1)], [finding(message=HOSTILE, path=[HOSTILE])]), {1: HOSTILE}
    )
    assert "\x1b" not in shown
    shown.encode()


def test_brackets_in_a_name_are_not_markup_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    text.write(verdict([], [finding(message="[red]Out[2][/red] stays")]), {}, stream)
    assert "[red]Out[2][/red] stays" in stream.getvalue()


def test_text_from_user_code_is_data_everywhere_in_the_page() -> None:
    hostile = finding(
        message=HOSTILE,
        path=[HOSTILE],
        name=HOSTILE,
        holders=[HOSTILE],
        slug=HOSTILE,
        fixes=[Fix(HOSTILE, HOSTILE)],
    )
    whole = replace(verdict([cell(2)], [hostile], HOSTILE), failure=Failure("died", 2, HOSTILE))
    page = html.page(whole, {2: HOSTILE})
    assert "img" not in tags(page).names
    assert "\x1b" not in page
    page.encode()


def test_findings_in_a_notebook_say_what_to_type_and_lead_nowhere() -> None:
    shown = [finding(message=HOSTILE, path=[HOSTILE], fixes=[Fix("Let go", "%xdel rows")])]
    cards = html.findings_fragment(HOSTILE, shown, {1: HOSTILE}, [HOSTILE], NAMED)
    assert "<code>%xdel rows</code>" in cards
    assert "img" not in tags(cards).names
    assert tags(cards).links == []


def test_the_page_asks_nothing_of_the_network() -> None:
    page = html.page(verdict([cell(1, 1, 2)], [finding()]), {1: "x", 2: "y"})
    assert {"script", "link", "img", "iframe"}.isdisjoint(tags(page).names)
    assert all(link.startswith("#") for link in tags(page).links)
    assert not re.search(r"https?:|@import|url\(", page)


def test_a_long_session_stays_small_enough_to_be_sent() -> None:
    cells = [cell(index, index << 20, (index + 1) << 20) for index in range(1, 101)]
    found = [replace(finding(), cell=index, cause_cell=index) for index in range(1, 101)]
    sources = {index: "value = step(batch)\n" * 200 for index in range(1, 101)}
    assert len(html.page(verdict(cells, found), sources).encode()) < 400_000


def test_the_bar_is_coloured_by_sign_and_the_peak_is_a_tick() -> None:
    page = html.fragment(verdict([cell(1, 0, 10), cell(2, 10, 5)]), {})
    bars = re.findall(r"<svg.*?</svg>", page)
    assert 'class="kept"' in bars[0] and 'class="freed"' in bars[1]
    assert all('class="tick"' in bar for bar in bars)


def test_a_cell_of_which_nothing_is_known_has_no_bar() -> None:
    assert "<svg" not in html.fragment(verdict([cell(1, None, None), Cell(2)]), {})


def test_the_guilty_line_is_marked_in_its_cell() -> None:
    page = html.page(verdict([cell(2)], [finding(line=2)]), {2: "a = 1\nlogits = model(x)\nlogits"})
    guilty = re.search(r'<span class="guilty">(.*?)</span>', page)
    assert guilty and "logits = model(x)" in guilty[1]


def test_a_hundred_cells_with_long_sources_stay_below_400_kb() -> None:
    whole = verdict([cell(n, n, n + 1) for n in range(1, 101)], [finding()] * 20)
    page = html.page(whole, {n: "x" * 10_000 + "\n" * 500 for n in range(1, 101)})
    assert len(page.encode()) < 400_000


def test_a_bar_shows_what_the_process_gave_back_where_the_cell_kept_next_to_nothing() -> None:
    assert Host(80 * MIB, 0, allocated_alive_bytes=512).bar_bytes == -80 * MIB
    assert Host(80 * MIB, 0, allocated_alive_bytes=2 * MIB).bar_bytes == 2 * MIB
    assert Host(0, 80 * MIB).bar_bytes == 80 * MIB
