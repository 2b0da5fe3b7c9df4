"""The panel in Notebook 7, where one notebook has a page of its own."""

from __future__ import annotations

import re

import pytest
from lab import Notebook, Server
from playwright.sync_api import Page, expect

MIB = 1 << 20


@pytest.mark.each_lab
def test_the_panel_opens_beside_the_notebook_and_releases(page: Page, seven: Server) -> None:
    cells = [f"value = bytearray({64 * MIB})", "memoryview(value)", "del value"]
    opened = Notebook(page, seven, seven.write("seven.ipynb", cells), tree="notebooks")
    opened.open_panel()
    for number in (1, 2, 3):
        opened.run(number)
    expect(opened.size(1)).to_have_text(re.compile(r"^\+64"))
    opened.finding("XL401").get_by_role("button", name="Release it").click()
    expect(opened.notice()).to_have_text("Out[2]: 64 MiB came back.")
