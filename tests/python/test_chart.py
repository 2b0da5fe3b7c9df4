"""The chart of kept bytes by cell and by holder."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from verdict_samples import MIB, cell, finding, verdict
from xleak.render import chart, html, text
from xleak.verdict import Alive, Cell, Host

CELLS = [cell(1, 10, 20), cell(2, 20, 120), cell(3, 120, 90), cell(4, 90, None)]
FOUND = [
    finding(cause_cell=2, bytes=60 * MIB, holders=["model.cache['a']"]),
    finding(cause_cell=2, bytes=20 * MIB, holders=["Out[2]"]),
    finding(cause_cell=4, bytes=5 * MIB, holders=["Out[4]"]),
    finding(cause_cell=3, bytes=None, holders=["unknown"]),
]


def drawn(page: str) -> ElementTree.Element:
    """The SVG, as a parser of XML sees it."""
    start = page.index('<svg viewBox="0 0 720')
    return ElementTree.fromstring(page[start : page.index("</svg>", start) + len("</svg>")])


def test_a_cell_s_bar_has_a_piece_for_each_holder_and_the_rest() -> None:
    bars = chart.chart_of(verdict(CELLS, FOUND)).bars
    assert [bar.cell for bar in bars] == [1, 2, 4]
    assert bars[1].pieces == [("model", 60 * MIB), ("Out", 20 * MIB)]
    assert bars[1].rest == 20 * MIB
    assert (bars[0].pieces, bars[0].rest) == ([], 10 * MIB)


def test_what_is_alive_beside_the_findings_has_its_owner_and_the_rest_its_reason() -> None:
    host = Host(
        0, 200 * MIB, 200 * MIB, allocated_alive_bytes=110 * MIB, small_heap_kept_bytes=10 * MIB
    )
    alive = [
        Alive("names", "model", 70 * MIB),
        Alive("shown", "Out[2]", 20 * MIB),
        Alive("unnamed", None, 8 * MIB),
        Alive("native", None, MIB // 2),
    ]
    importing = Cell(1, status="ok", host=Host(0, 30 * MIB), alive=[Alive("imports", None, MIB)])
    made = Cell(2, status="ok", host=host, execution_count=2, alive=alive)
    bars = chart.chart_of(verdict([importing, made], FOUND[:2])).bars
    # The cell kept 10 MiB of small objects. Of the model 60 MiB are in a finding; 11.5 MiB of the blocks have gone.
    assert bars[1].alive == [
        ("more of model", 10 * MIB),
        ("no name", 8 * MIB),
        ("native code", MIB // 2),
    ]
    assert bars[1].total == 120 * MIB - 23 * MIB // 2
    lines = chart.plain(chart.chart_of(verdict([importing, made], FOUND[:2]))).splitlines()
    assert lines[0].endswith("30 MiB: imports 30 MiB")
    told = "model 60 MiB, Out 20 MiB, more of model 10 MiB, no name 8 MiB, small objects 10.5 MiB"
    assert lines[1].endswith(told)


def test_what_is_unknown_adds_nothing_and_what_is_told_stays() -> None:
    assert chart.chart_of(verdict(CELLS, FOUND)).bars[2] == chart.Bar(
        4, "cell 4", [("Out", 5 * MIB)], 0
    )


def test_without_a_finding_of_known_size_there_is_no_chart() -> None:
    none = chart.chart_of(verdict(CELLS, [finding(bytes=None)]))
    assert (chart.plain(none), chart.fragment(none)) == ("", "")


def test_the_widths_are_the_bytes_on_one_scale() -> None:
    svg = drawn(chart.fragment(chart.chart_of(verdict(CELLS, FOUND))))
    widths = [float(rect.get("width", "0")) for rect in svg.iter("rect")]
    assert widths == [56.0, 336.0, 112.0, 112.0, 28.0]
    titles = [title.text for title in svg.iter("title")]
    assert titles[1] == "cell 2: model 60 MiB"


def test_each_holder_has_a_colour_of_its_own_and_many_share_the_last() -> None:
    many = [finding(cause_cell=2, bytes=n * MIB, holders=[f"name{n}"]) for n in range(1, 10)]
    whole = chart.chart_of(verdict(CELLS, many))
    assert whole.holders == ["name9", "name8", "name7", "name6", "name5", "other holders"]
    assert whole.bars[1].pieces[-1] == ("other holders", 10 * MIB)
    page = chart.fragment(whole)
    assert set(re.findall(r"holder-\d", page)) == {f"holder-{n}" for n in range(6)}


def test_a_long_session_shows_the_cells_that_kept_most_in_their_order() -> None:
    cells = [cell(n, 0, n) for n in range(1, 31)]
    whole = chart.chart_of(verdict(cells, [finding(cause_cell=30)]))
    assert [bar.cell for bar in whole.bars] == list(range(15, 31))
    assert "and 14 cells that kept less" in chart.plain(whole)
    assert "and 14 cells that kept less" in chart.fragment(whole)


def test_the_text_says_the_same_in_one_line_a_cell() -> None:
    lines = text.report(verdict(CELLS, FOUND), {}).splitlines()
    line = next(line for line in lines if line.startswith("cell 2 ") and "█" in line)
    assert "100 MiB: model 60 MiB, Out 20 MiB" in line
    assert line.count("█") == 24 and line.count("░") == 6


def test_a_holder_s_name_is_data_in_the_chart() -> None:
    hostile = finding(cause_cell=2, holders=["<script>\"'&\x1b"])
    page = html.page(verdict(CELLS, [hostile]), {})
    assert "<script" not in page
    titles = [title.text or "" for title in drawn(page).iter("title")]
    assert any("<script>\"'&\\x1b" in title for title in titles)
    assert "\x1b" not in chart.plain(chart.chart_of(verdict(CELLS, [hostile])))


def test_the_page_has_no_script_and_needs_no_network() -> None:
    page = html.page(verdict(CELLS, FOUND), {})
    assert "Kept, by cell and holder" in page
    assert "http" not in page and "<script" not in page and "url(" not in page
