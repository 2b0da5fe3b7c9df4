"""A long session: 500 cells and 1000 findings, told by a script in place of the kernel."""

from __future__ import annotations

from lab import OpenNotebook
from long_session import CELLS, KERNEL, tell
from playwright.sync_api import expect


def test_a_long_session_is_drawn_in_part_and_reached_to_its_end(notebook: OpenNotebook) -> None:
    opened = notebook([KERNEL], kernel="python3")
    lists = tell(opened)
    bars = opened.panel.locator(".jp-xleak-Cell")
    assert bars.count() < 60
    assert opened.panel.locator(".jp-xleak-Finding").count() < 20
    # At once: JupyterLab gives the focus to the notebook when it has restored that.
    lists["cells"].press("End")
    expect(bars.last).to_have_attribute("aria-posinset", str(CELLS))
