"""The panel in a low window and in one that is magnified, with the keyboard alone."""

from __future__ import annotations

import pytest
from barriers import CUT_OFF, OVERLAPPING, REACHABLE, reached_by_keyboard
from lab import Notebook, OpenNotebook
from playwright.sync_api import expect

MIB = 1 << 20
SHOWN = [f"value = bytearray({64 * MIB})", "memoryview(value)", "del value", "1", "2", "3", "4"]

# What a window of 1360 × 900 is at 200 %.
MAGNIFIED = {"viewport": {"width": 680, "height": 450}, "device_scale_factor": 2}
LOW = {"viewport": {"width": 1360, "height": 640}}

WHOLLY_IN_VIEW = """rows => rows.filter(row => {
    const list = row.closest('.jp-xleak-Scroll').getBoundingClientRect();
    const { top, bottom } = row.getBoundingClientRect();
    return list.top <= top + 1 && bottom - 1 <= list.bottom;
}).length"""


def with_all_sections(notebook: OpenNotebook) -> Notebook:
    """A session with a finding, and every section open and filled."""
    opened = notebook(SHOWN)
    for number in range(1, len(SHOWN) + 1):
        opened.run(number)
    expect(opened.finding("XL401")).to_be_attached()
    opened.section("names").get_by_role("button", name="Measure the names").click()
    opened.section("census").get_by_role("button", name="List the tensors").click()
    opened.section("devices").get_by_role("button", name="Read the devices").click()
    expect(opened.panel).to_contain_text("There are no live tensors.")
    return opened


@pytest.mark.parametrize("page", [LOW, MAGNIFIED], ids=["low", "magnified"], indirect=True)
def test_in_a_small_window_nothing_is_cut_off_and_the_keyboard_reaches_all(
    notebook: OpenNotebook,
) -> None:
    opened = with_all_sections(notebook)
    panel = opened.panel
    rows = panel.locator(".jp-xleak-Section[data-kind=cells] .jp-xleak-Cell")
    assert rows.evaluate_all(WHOLLY_IN_VIEW) == len(SHOWN)
    assert panel.evaluate(CUT_OFF) == []
    assert panel.evaluate(OVERLAPPING) == 0

    reached = reached_by_keyboard(opened)
    assert [it["at"] for it in reached] == list(range(panel.locator(REACHABLE).count()))
    assert all(it["seen"] for it in reached)
