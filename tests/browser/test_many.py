"""A long session: 500 cells and 1000 findings, told by a script in place of the kernel."""

from __future__ import annotations

from lab import OpenNotebook
from long_session import CELLS, KERNEL, scripting_of_frames, tell
from playwright.sync_api import expect

# A frame of a screen that shows 60 a second.
MOST_SCRIPTING_MILLISECONDS = 16


def test_a_long_session_is_drawn_in_part_and_scrolls_smoothly(notebook: OpenNotebook) -> None:
    opened = notebook([KERNEL], kernel="python3")
    lists = tell(opened)
    bars = opened.panel.locator(".jp-xleak-Cell")
    assert bars.count() < 60
    assert opened.panel.locator(".jp-xleak-Finding").count() < 20
    for scrolled in lists.values():
        # What the page itself costs it costs each time; a large collection of garbage comes at one.
        slowest = [max(scripting_of_frames(opened, scrolled)) for _ in range(2)]
        assert min(slowest) <= MOST_SCRIPTING_MILLISECONDS
    lists["cells"].focus()
    opened.page.keyboard.press("End")
    expect(bars.last).to_have_attribute("aria-posinset", str(CELLS))
