"""The live tensors in the panel."""

from __future__ import annotations

from lab import Notebook, OpenNotebook, Server
from playwright.sync_api import Locator, expect

MIB = 1 << 20
TENSORS = """
import torch
weights = torch.zeros(1024, 1024, requires_grad=True)
total = weights.sum()
many = [torch.zeros(size) for size in range(1, 151)]
"""
UNTIL_TOLD = """
import pathlib, time
while not pathlib.Path("go on").exists():
    time.sleep(0.05)
"""


def listed(opened: Notebook) -> Locator:
    """The section, once it lists what there is."""
    section = opened.section("census")
    section.get_by_role("button", name="List the tensors").click()
    return section


def test_each_live_tensor_is_listed_with_the_cell_that_made_it(notebook: OpenNotebook) -> None:
    opened = notebook(["'no torch yet'", TENSORS])
    for number in (1, 2):
        opened.run(number)
    section = listed(opened)
    largest = section.locator(".jp-xleak-TensorRow").nth(1).get_by_role("cell")
    expect(largest).to_contain_text(["float32 1024 × 1024", "4 MiB", "[2]"])
    expect(largest.first).to_contain_text("cpu · weights · requires_grad")
    largest.get_by_role("button").click()
    expect(opened.page.locator(".jp-CodeCell.jp-mod-active").last).to_contain_text("many = ")


def test_the_tensors_come_in_pages_and_the_last_one_where_there_are_fewer(
    notebook: OpenNotebook,
) -> None:
    opened = notebook([TENSORS, "del many", "del weights, total"])
    opened.run(1)
    section = listed(opened)
    status = section.get_by_role("status")
    expect(status).to_have_text("Page 1 of 2")
    expect(section.get_by_role("button", name="Previous")).to_be_disabled()
    section.get_by_role("button", name="Next").click()
    expect(status).to_have_text("Page 2 of 2")
    expect(section.get_by_role("button", name="Next")).to_be_disabled()
    expect(section).not_to_contain_text("1024 × 1024")
    opened.run(2)
    section.get_by_role("button", name="List the tensors").click()
    expect(status).to_have_text("Page 1 of 1")
    expect(section).to_contain_text("1024 × 1024")
    opened.run(3)
    section.get_by_role("button", name="List the tensors").click()
    expect(status).to_have_text("There are no live tensors.")


def test_while_a_cell_runs_the_panel_says_why_the_tensors_wait(
    notebook: OpenNotebook, lab: Server
) -> None:
    opened = notebook([TENSORS, UNTIL_TOLD])
    opened.run(1)
    opened.start(2)
    section = listed(opened)
    status = section.get_by_role("status")
    expect(status).to_have_text("A cell is running. The kernel answers when it has ended.")
    (lab.folder / "go on").touch()
    expect(status).to_have_text("Page 1 of 2")
