"""A kernel that dies within a cell: what its record says stands beside what the panel had seen of it."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

from lab import Notebook, OpenNotebook, Server, wait_until
from playwright.sync_api import Locator, Page, expect

MIB = 1 << 20
KEPT = f"kept = bytearray({64 * MIB})"


def grows_and_waits(pid: Path, mebibytes: int) -> str:
    """A cell that takes so much, says who it is, and never ends."""
    rows = f"rows = [bytes([1]) * {MIB} for row in range({mebibytes})]"
    return (
        f"import os, pathlib, time\n{rows}\n"
        f"pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))\nwhile True: time.sleep(0.1)"
    )


def kill_in_the_second(opened: Notebook, pid: Path) -> None:
    """SIGKILL, once the panel has a bar for the cell that runs."""
    opened.run(1)
    opened.start(2)
    expect(opened.bar(2)).to_have_attribute("data-live", "true")
    expect(opened.size(2)).to_have_text(re.compile(r"^\+(9\d(\.\d)?|10\d) MiB"))
    kill(pid)
    opened.page.locator(".jp-Dialog").get_by_role("button", name="Ok").click()
    opened.wait_for_phase("ready")


def kill(pid: Path) -> None:
    """Once the cell has said who it is."""
    wait_until(lambda: pid.exists() and bool(pid.read_text()))
    os.kill(int(pid.read_text()), signal.SIGKILL)


def past_of(opened: Notebook) -> Locator:
    return opened.panel.locator(".jp-xleak-Section[data-kind=past]")


def died(opened: Notebook) -> Locator:
    return opened.panel.get_by_role("article", name="The kernel before this one died")


def test_a_kernel_that_was_killed_is_told_of_once_with_its_cell_its_size_and_the_cause(
    notebook: OpenNotebook, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    opened = notebook([KEPT, grows_and_waits(pid, 96), KEPT])
    kill_in_the_second(opened, pid)
    expect(died(opened)).to_have_count(1)
    # Both name the cell as the notebook counted it.
    expect(died(opened)).to_contain_text("It ended in cell 2, ")
    expect(died(opened)).to_contain_text(
        re.compile(r"risen by (9\d(\.\d)?|10\d) MiB .* held \d+ MiB at last")
    )
    expect(died(opened)).to_contain_text("cause: unknown")
    died(opened).get_by_text("The cell that ran").click()
    expect(died(opened)).to_contain_text("rows = [bytes([1])")
    bars = past_of(opened).locator(".jp-xleak-Cell")
    expect(bars).to_have_count(2)
    expect(opened.past_bar(2)).to_have_attribute("aria-label", re.compile("when the kernel died"))
    expect(opened.past_bar(2).locator(".jp-xleak-size")).to_have_text(re.compile(r"^\+(9\d|10\d)"))
    opened.run(3)
    expect(died(opened)).to_have_count(1)
    expect(opened.bar(2)).to_have_count(0)


def test_a_panel_that_was_not_there_is_told_of_it_too_and_after_a_reload_still_once(
    page: Page, lab: Server, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    opened = Notebook(page, lab, lab.write("away.ipynb", [grows_and_waits(pid, 96), KEPT]))
    expect(page.get_by_text("Python 3 (xleak) | Idle")).to_be_visible()
    opened.start(1)
    kill(pid)
    page.locator(".jp-Dialog").get_by_role("button", name="Ok").click()
    opened.open_panel()
    expect(died(opened)).to_contain_text("It ended in cell 1, ")
    expect(died(opened)).to_have_count(1)
    opened.run(2)
    page.keyboard.press("Control+s")
    page.reload()
    opened.open_panel()
    expect(opened.bar(2)).to_be_visible()
    expect(died(opened)).to_have_count(1)
    lab.end_kernels()
