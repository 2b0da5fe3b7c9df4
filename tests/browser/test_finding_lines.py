"""The line that a cell with a new finding gets under it, and the badge, with the panel closed."""

from __future__ import annotations

import re

import pytest
from lab import Notebook, Server, wait_until
from playwright.sync_api import Locator, Page, expect

MIB = 1 << 20
LEAK = "{name} = bytearray({mib} << 20)\nmemoryview({name})"
SMALL = [LEAK.format(name="small", mib=15), "del small"]
LARGE = [LEAK.format(name="large", mib=200), "del large"]


def outputs(opened: Notebook, number: int) -> Locator:
    return opened.cell(number).locator(".jp-OutputArea-output")


def badge(opened: Notebook) -> Locator:
    return opened.page.locator(".jp-NotebookPanel:visible .jp-xleak-Badge .jp-xleak-badgeText")


def assert_lines_and_badge(opened: Notebook) -> None:
    """Two leaks: below 16 MiB the badge alone says it, above it a line under the cell does too."""
    expect(opened.panel).not_to_be_visible()
    for number in (1, 2):
        opened.run(number)
    expect(badge(opened)).to_have_text("1")
    expect(outputs(opened, 2)).to_have_count(0)
    for number in (3, 4):
        opened.run(number)
    expect(badge(opened)).to_have_text("2")
    expect(outputs(opened, 4)).to_contain_text("alone keeps 200 MiB")
    expect(outputs(opened, 2)).to_have_count(0)
    # A second line leaves the first as it is; a release changes its own cell's alone.
    for number in (5, 6):
        opened.run(number)
    expect(outputs(opened, 6)).to_contain_text("alone keeps 48 MiB")
    expect(outputs(opened, 4)).to_contain_text("alone keeps 200 MiB")
    opened.run(7)
    expect(outputs(opened, 4)).to_contain_text("has been released")
    expect(outputs(opened, 6)).to_contain_text("alone keeps 48 MiB")
    expect(badge(opened)).to_have_text("2")
    expect(opened.panel).not_to_be_visible()


def cells(large: int) -> list[str]:
    """large: the number of the entry of the second leak."""
    third = [LEAK.format(name="third", mib=48), "del third"]
    return [*SMALL, *LARGE, *third, f"%xdel Out[{large}]"]


@pytest.mark.each_lab
@pytest.mark.parametrize("kernel", ["xleak", "python3"])
def test_with_the_panel_closed_each_leak_shows_by_its_size(
    page: Page, lab: Server, kernel: str
) -> None:
    first = [] if kernel == "xleak" else ["%load_ext xleak"]
    written = lab.write(f"lines_{kernel}.ipynb", [*cells(3 + len(first)), *first], kernel)
    opened = Notebook(page, lab, written)
    wait_until(lab.has_idle_kernel)
    if first:
        opened.run(8)
    assert_lines_and_badge(opened)
    lab.end_kernels()


@pytest.mark.each_lab
def test_in_notebook_7_each_leak_shows_by_its_size(page: Page, seven: Server) -> None:
    written = seven.write("seven.ipynb", cells(3))
    opened = Notebook(page, seven, written, tree="notebooks")
    wait_until(seven.has_idle_kernel)
    assert_lines_and_badge(opened)


@pytest.mark.each_lab
def test_a_notebook_that_is_run_as_a_whole_has_its_lines_too(page: Page, lab: Server) -> None:
    opened = Notebook(page, lab, lab.write("whole.ipynb", [*LARGE, "x = 1"]))
    wait_until(lab.has_idle_kernel)
    opened.cell(1).locator(".cm-content").click()
    opened.page.get_by_role("menuitem", name="Run", exact=True).click()
    opened.page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()
    # Found after all three: it stands under the last, and under no other.
    expect(outputs(opened, 3)).to_contain_text("Out[1] alone keeps 200 MiB")
    expect(outputs(opened, 2)).to_have_count(0)
    lab.end_kernels()
