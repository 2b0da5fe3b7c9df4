"""Cells of xleak's magics alone, and what the process takes after a release, as the panel shows them."""

from __future__ import annotations

import re

import pytest
from lab import Notebook, OpenNotebook
from looks import ROOT, THEMES, dress
from playwright.sync_api import Locator, expect

MIB = 1 << 20
ARTEFACTS = ROOT / "build" / "screenshots"
# Written, so that its pages are the process's.
KEPT = f"value = bytearray(b'x') * {160 * MIB}"


def figure(opened: Notebook, name: str) -> Locator:
    """One of the figures on top of the panel."""
    return opened.panel.locator(".jp-xleak-Figures > div").filter(has_text=name).locator("dd")


def in_mib(shown: str) -> int:
    size, unit = shown.split()
    return int(float(size.lstrip("+").replace("−", "-")) * (1024 if unit == "GiB" else 1))


def test_cells_of_our_own_are_counted_and_shown_on_request(
    notebook: OpenNotebook,
) -> None:
    opened = notebook([KEPT, "# what stays?\n%leakcheck", "%memreport", "%leakcheck\nlast = 1"])
    for number in range(1, 5):
        opened.run(number)
    rows = opened.panel.locator(".jp-xleak-Cell")
    expect(rows.locator(".jp-xleak-prompt")).to_have_text(["[1]", "[4]"])
    opened.panel.get_by_role("button", name="2 of xleak's own, show").click()
    expect(rows.locator(".jp-xleak-prompt")).to_have_text(["[1]", "[2]", "[3]", "[4]"])
    own = opened.panel.locator(".jp-xleak-Cell[data-own='true']")
    expect(own).to_have_count(2)
    expect(own.first).to_have_attribute("aria-label", re.compile(r"^Cell \[2\], xleak's own, kept"))
    opened.panel.get_by_role("button", name="2 of xleak's own, hide").click()
    expect(rows).to_have_count(2)


def test_a_notebook_of_our_own_cells_alone_shows_none_of_them(notebook: OpenNotebook) -> None:
    opened = notebook(["%leakcheck"])
    opened.run(1)
    expect(opened.panel.get_by_role("button", name="1 of xleak's own, show")).to_be_visible()
    expect(opened.panel.locator(".jp-xleak-Cell")).to_have_count(0)


@pytest.mark.parametrize("theme", THEMES)
def test_a_release_in_the_panel_moves_what_the_process_takes_at_once(
    notebook: OpenNotebook, theme: str
) -> None:
    opened = notebook([KEPT, "memoryview(value)", "del value", "%leakcheck"], name="released")
    dress(opened, theme)
    for number in range(1, 5):
        opened.run(number)
    finding = opened.finding("XL401")
    expect(finding).to_be_visible()
    opened.panel.get_by_role("button", name="1 of xleak's own, show").click()
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    opened.page.screenshot(path=ARTEFACTS / f"own_cells_{theme}.png")
    now, since = figure(opened, "Process now"), figure(opened, "Since start")
    before = now.inner_text(), since.inner_text()
    finding.get_by_role("button", name="Release it").click()
    expect(now).not_to_have_text(before[0])
    expect(since).not_to_have_text(before[1])
    opened.page.screenshot(path=ARTEFACTS / f"released_{theme}.png")
    assert in_mib(before[0]) - in_mib(now.inner_text()) >= 100
    assert in_mib(before[1]) - in_mib(since.inner_text()) >= 100
