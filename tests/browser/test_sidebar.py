"""The panel beside a notebook, with the real kernel: what people see and what they can do."""

from __future__ import annotations

import re

import pytest
from lab import OpenNotebook
from playwright.sync_api import expect

MIB = 1 << 20
IN_USE = """
import ctypes
class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]
mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Mallinfo
def in_use():
    now = mallinfo2()
    return (now.uordblks + now.hblkhd) >> 20
"""
SHOWN = [f"value = bytearray({64 * MIB})", "memoryview(value)", "del value"]
HOSTILE = "<img src=x onerror=window.hacked=1>"


@pytest.mark.each_lab
def test_a_bar_appears_for_each_cell_in_the_order_of_the_notebook(notebook: OpenNotebook) -> None:
    opened = notebook([f"kept = bytearray({80 * MIB})", "del kept", "1 + 1"])
    for number in (1, 3, 2):
        opened.run(number)
    expect(opened.size(1)).to_have_text(re.compile(r"^\+80(\.\d)? MiB$"))
    expect(opened.size(2)).to_have_text(re.compile(r"^−80(\.\d)? MiB$"))
    rows = opened.panel.locator(".jp-xleak-Cell")
    expect(rows).to_have_count(3)
    ids = rows.evaluate_all("rows => rows.map(row => row.dataset.cellId)")
    assert ids == ["cell-1", "cell-2", "cell-3"]
    expect(opened.bar(1).locator("rect.jp-xleak-kept")).to_be_attached()
    expect(opened.bar(2).locator("rect.jp-xleak-freed")).to_be_attached()


def test_a_leak_in_the_output_cache_is_released_and_its_bytes_come_back(
    notebook: OpenNotebook,
) -> None:
    cells = ["import torch", f"value = torch.zeros({16 * MIB})", "value[:]", "del value"]
    opened = notebook([*cells, IN_USE, "in_use()", "in_use()"])
    for number in range(1, 7):
        opened.run(number)
    finding = opened.finding("XL401")
    expect(finding.locator(".jp-xleak-bytes")).to_have_text("64 MiB")
    expect(finding.locator(".jp-xleak-Path li")).to_have_text(["Out", "[3]", "Tensor"])
    expect(opened.cell(3).locator(".jp-xleak-CellMark")).to_be_visible()
    expect(opened.page.locator(".jp-xleak-badgeText").first).to_have_text("64 MiB")

    finding.get_by_role("button", name="Release it").click()

    expect(opened.notice()).to_have_text("Out[3]: 64 MiB came back.")
    expect(finding).to_have_count(0)
    expect(opened.cell(3).locator(".jp-xleak-CellMark")).to_have_count(0)
    expect(opened.page.locator(".jp-xleak-badgeText")).to_have_count(0)
    opened.run(7)
    assert int(opened.output(6)) - int(opened.output(7)) >= 63


def test_a_cell_that_runs_has_a_bar_that_moves(notebook: OpenNotebook) -> None:
    grows = f"import time\nkept = []\nfor step in range(40):\n    kept.append(bytearray({2 * MIB})); time.sleep(0.1)"
    opened = notebook([grows])
    opened.start(1)
    live = opened.bar(1)
    expect(live).to_have_attribute("data-live", "true")
    first = opened.size(1).inner_text()
    expect(opened.size(1)).not_to_have_text(first)
    expect(live).to_have_attribute("data-live", "true")
    expect(live).to_have_attribute("data-live", "false")
    expect(opened.size(1)).to_have_text(re.compile(r"^\+8\d(\.\d)? MiB$"))


def test_a_cell_that_runs_again_keeps_one_bar_and_the_earlier_run_as_history(
    notebook: OpenNotebook,
) -> None:
    opened = notebook([f"kept = bytearray({40 * MIB})"])
    opened.run(1)
    expect(opened.size(1)).to_have_text(re.compile(r"^\+40"))
    opened.run(1)
    expect(opened.bar(1).locator(".jp-xleak-prompt")).to_have_text("[2]")
    expect(opened.panel.locator(".jp-xleak-Cell")).to_have_count(1)
    opened.bar(1).hover()
    expect(opened.panel.locator(".jp-xleak-Numbers")).to_contain_text("Earlier runs: [1] +40")


def test_a_click_on_a_bar_and_the_keyboard_go_to_the_cell(notebook: OpenNotebook) -> None:
    opened = notebook(["1", "2", "3"])
    for number in (1, 2, 3):
        opened.run(number)
    opened.bar(1).click()
    expect(opened.cell(1)).to_have_class(re.compile("jp-mod-active"))
    opened.panel.get_by_role("listbox").focus()
    opened.page.keyboard.press("ArrowDown")
    opened.page.keyboard.press("ArrowDown")
    expect(opened.bar(3)).to_have_attribute("aria-selected", "true")
    opened.page.keyboard.press("Enter")
    expect(opened.cell(3)).to_have_class(re.compile("jp-mod-active"))


def test_names_of_the_user_are_text_and_nothing_else(notebook: OpenNotebook) -> None:
    hostile = f'type("{HOSTILE}", (bytearray,), {{"__repr__": lambda it: "shown"}})'
    opened = notebook([f"value = {hostile}({64 * MIB})", "value", "del value"])
    for number in (1, 2, 3):
        opened.run(number)
    finding = opened.finding("XL401")
    expect(finding).to_contain_text(HOSTILE)
    expect(opened.panel.locator("img")).to_have_count(0)
    assert opened.page.evaluate("window.hacked") is None


def test_a_finding_is_explained_and_dismissed(notebook: OpenNotebook) -> None:
    opened = notebook(SHOWN)
    for number in (1, 2, 3):
        opened.run(number)
    finding = opened.finding("XL401")
    finding.get_by_role("button", name="Explain").click()
    dialog = opened.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("Big value in the output cache (XL401)")
    expect(dialog).to_contain_text("Why it costs")
    dialog.get_by_role("button", name="Close").click()
    finding.get_by_role("button", name="Dismiss").click()
    expect(finding).to_have_count(0)
    expect(opened.panel.locator(".jp-xleak-Empty").first).to_contain_text("No leak found.")
    dismissed = opened.panel.locator(".jp-xleak-Dismissed")
    expect(dismissed).to_contain_text("1 dismissed")
    dismissed.get_by_role("button", name="Show").click()
    expect(finding).to_have_count(1)
    expect(dismissed).to_have_count(0)


def test_without_a_leak_what_the_cells_kept_stands_beside_it_and_who_holds_it(
    notebook: OpenNotebook,
) -> None:
    opened = notebook([f"features = bytearray({64 * MIB})"])
    opened.run(1)
    said = opened.panel.locator(".jp-xleak-Empty").first
    expect(said).to_contain_text("No leak found.")
    expect(said).to_contain_text(re.compile(r"The process grew by [\d.]+ MiB, imports included\."))
    said.get_by_role("button", name="Who holds it?").click()
    expect(said).to_contain_text("Names that hold most: features 64 MiB")


def test_the_repair_of_the_source_is_shown_and_then_made(notebook: OpenNotebook) -> None:
    loop = "losses = []\nfor step in range(20):\n    losses.append(net(rows).square().mean())"
    net = "import torch\nnet = torch.nn.Linear(64, 4096)\nrows = torch.rand(64, 64)"
    # What a loop collected is a leak once it has outlived another cell.
    opened = notebook([net, loop, "%leakcheck", "%leakcheck"])
    for number in range(1, 5):
        opened.run(number)
    finding = opened.finding("XL102")
    finding.get_by_role("button", name="Insert the edit…").click()
    dialog = opened.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("mean().detach())")
    expect(opened.cell(2)).not_to_contain_text("detach")
    dialog.get_by_role("button", name="Change the cell").click()
    expect(opened.cell(2)).to_contain_text("losses.append(net(rows).square().mean().detach())")


@pytest.mark.each_lab
def test_a_name_is_deleted_after_saying_what_goes_with_it(notebook: OpenNotebook) -> None:
    opened = notebook(
        [f"big = bytearray({64 * MIB}); small = bytearray({16 * MIB})", "'big' in globals()"]
    )
    opened.run(1)
    section = opened.section("names")
    section.get_by_role("button", name="Measure the names").click()
    names = section.locator(".jp-xleak-name")
    expect(names).to_have_text(["big", "small"])
    section.get_by_role("button", name="Retained").click()
    expect(names).to_have_text(["small", "big"])
    section.get_by_role("searchbox").fill("BIG")
    expect(names).to_have_text(["big"])
    section.get_by_role("button", name="Delete big").click()
    dialog = opened.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("64 MiB would come back")
    dialog.get_by_role("button", name="Delete").click()
    expect(opened.notice()).to_have_text("big: 64 MiB came back.")
    expect(names).to_have_count(0)
    opened.run(2)
    assert opened.output(2) == "False"


def test_the_policy_is_switched_and_told(notebook: OpenNotebook) -> None:
    opened = notebook(["1", "%xleak policy"])
    opened.run(1)
    policy = opened.panel.get_by_role("combobox")
    expect(policy).to_have_value("report")
    policy.select_option("ask")
    expect(policy).to_have_value("ask")
    opened.run(2)
    assert "ask" in opened.output(2)


def test_by_the_policy_ask_the_panel_asks_whether_to_release(notebook: OpenNotebook) -> None:
    opened = notebook(["%xleak policy ask", *SHOWN])
    for number in range(1, 5):
        opened.run(number)
    question = opened.panel.locator(".jp-xleak-Notice", has_text="Release 64 MiB of Out[3]?")
    question.get_by_role("button", name="Release", exact=True).click()
    expect(opened.notice()).to_have_text("Out[3]: 64 MiB came back.")


def test_by_the_policy_auto_the_panel_says_what_came_back(notebook: OpenNotebook) -> None:
    opened = notebook(["%xleak policy auto", *SHOWN, "1", "2", "3", "4"])
    for number in range(1, 9):
        opened.run(number)
    expect(opened.notice()).to_have_text("By itself the kernel gave 64 MiB back.")


def test_what_the_devices_hold_is_read_or_said_to_be_none(notebook: OpenNotebook) -> None:
    opened = notebook(["1"])
    section = opened.section("devices")
    section.get_by_role("button", name="Read the devices").click()
    expect(section).to_contain_text(re.compile("No accelerator is in use|Allocated"))
