"""What the panel says when there is no kernel of ours, or it goes away."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab import TOKEN, Notebook, OpenNotebook, Server, wait_until
from playwright.sync_api import Page, WebSocket, expect
from wire import Wire, wired

MIB = 1 << 20
KEPT = f"kept = bytearray({64 * MIB})"
OTHER_VERSION = """
from comm import get_comm_manager
get_comm_manager().register_target(
    "xleak", lambda comm, message: comm.send({"kind": "hello", "protocol": 2, "xleak": "9", "capabilities": []}))
"""


def once(path: Path, then: str) -> str:
    """A cell that does so when there is a file."""
    waits = f"while not os.path.exists({str(path)!r}): time.sleep(0.01)"
    return f"import os, time\n{waits}\n{then}"


def test_without_a_notebook_the_panel_says_what_to_do(page: Page, lab: Server) -> None:
    page.goto(f"{lab.url}lab?token={TOKEN}&reset")
    page.get_by_role("tab", name="Memory by cell (xleak)").click()
    expect(page.locator("#xleak-panel")).to_contain_text("Open a notebook")


def test_another_kernel_gets_the_panel_by_one_click(notebook: OpenNotebook) -> None:
    opened = notebook([KEPT], kernel="python3")
    expect(opened.panel).to_contain_text("This kernel is not watched")
    opened.panel.get_by_role("button", name="Run %load_ext xleak").click()
    opened.wait_for_phase("ready")
    opened.run(1)
    expect(opened.size(1)).to_have_text(re.compile(r"^\+64"))


def test_a_kernel_that_is_loaded_by_hand_is_noticed(notebook: OpenNotebook) -> None:
    opened = notebook(["%load_ext xleak", KEPT], kernel="python3")
    opened.run(1)
    opened.wait_for_phase("ready")
    opened.run(2)
    expect(opened.size(2)).to_have_text(re.compile(r"^\+64"))


def test_another_version_of_the_protocol_is_told(notebook: OpenNotebook) -> None:
    opened = notebook([OTHER_VERSION], kernel="python3")
    opened.run(1)
    opened.page.reload()
    expect(opened.panel).to_contain_text("The kernel speaks version 2 of the protocol")


def test_after_a_restart_nothing_of_before_is_shown(notebook: OpenNotebook) -> None:
    opened = notebook([KEPT, "1"])
    opened.run(1)
    expect(opened.bar(1)).to_be_visible()
    opened.page.get_by_role("menuitem", name="Kernel").click()
    opened.page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Restart Kernel…$")).click()
    opened.page.locator(".jp-Dialog").get_by_role("button", name="Confirm Kernel Restart").click()
    expect(opened.bar(1)).to_have_count(0)
    opened.wait_for_phase("ready")
    opened.run(2)
    expect(opened.bar(2)).to_be_visible()


@pytest.mark.each_lab
def test_what_a_crashed_kernel_had_kept_stays_apart_from_what_its_successor_keeps(
    notebook: OpenNotebook, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    grows = f"more = bytearray({32 * MIB})\n{once(seen, 'os._exit(1)')}"
    opened = notebook([KEPT, grows, f"kept = bytearray({16 * MIB})"])
    opened.run(1)
    opened.start(2)
    expect(opened.bar(2)).to_be_visible()
    seen.touch()
    past = opened.panel.locator(".jp-xleak-Section[data-kind=past]")
    expect(past.get_by_role("button", name="Before the restart")).to_be_visible()
    expect(opened.past_bar(1).locator(".jp-xleak-size")).to_have_text(re.compile(r"^\+64"))
    opened.page.locator(".jp-Dialog").get_by_role("button", name="Ok").click()
    opened.past_bar(2).hover()
    expect(past.locator(".jp-xleak-Numbers")).to_contain_text("running when the kernel died")
    opened.wait_for_phase("ready")
    expect(opened.bar(1)).to_have_count(0)
    opened.run(3)
    expect(opened.size(3)).to_have_text(re.compile(r"^\+16"))
    expect(opened.past_bar(3)).to_have_count(0)
    opened.past_bar(1).click()
    expect(opened.cell(1)).to_have_class(re.compile("jp-mod-active"))


@pytest.mark.each_lab
@pytest.mark.parametrize("crashes", ["import os; os._exit(1)", "import os; os.abort()"])
def test_a_cell_that_crashes_the_kernel_at_once_is_told(
    notebook: OpenNotebook, crashes: str
) -> None:
    opened = notebook([crashes, KEPT], name="at_once")
    opened.start(1)
    bar = opened.past_bar(1)
    expect(bar.locator(".jp-xleak-size")).to_have_text("?")
    expect(bar).to_have_attribute("aria-label", re.compile("was running when the kernel died"))
    opened.page.locator(".jp-Dialog").get_by_role("button", name="Ok").click()
    opened.wait_for_phase("ready")
    expect(opened.bar(1)).to_have_count(0)
    opened.run(2)
    expect(opened.size(2)).to_have_text(re.compile(r"^\+64"))


def test_a_running_cell_has_a_bar_where_the_kernel_tells_of_it_when_it_has_ended(
    notebook: OpenNotebook, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    opened = notebook(["%load_ext xleak", once(go, KEPT)], kernel="python3")
    opened.run(1)
    opened.wait_for_phase("ready")
    opened.start(2)
    expect(opened.bar(2)).to_have_attribute("aria-label", re.compile(r"\[\*\].*not known yet"))
    expect(opened.size(2)).to_have_text("?")
    go.touch()
    expect(opened.size(2)).to_have_text(re.compile(r"^\+64"))


@pytest.mark.each_lab
def test_a_kernel_that_cannot_be_started_has_failed(page: Page, lab: Server) -> None:
    lab.add_kernel("absent", ["/no/such/program", "{connection_file}"])
    opened = Notebook(page, lab, lab.write("absent.ipynb", ["1"], "absent"))
    page.locator(".jp-Dialog", has_text="Error Starting Kernel").get_by_role("button").click()
    page.locator(".jp-Dialog").get_by_role("button", name="No Kernel").click()
    opened.show_panel()
    opened.wait_for_phase("failed")
    expect(opened.panel).to_contain_text("The kernel failed to start.")


def test_a_kernel_that_ends_at_once_has_failed(page: Page, lab: Server) -> None:
    lab.add_kernel("brief", [sys.executable, "-c", "raise SystemExit(1)", "{connection_file}"])
    opened = Notebook(page, lab, lab.write("brief.ipynb", ["1"], "brief"))
    opened.show_panel()
    opened.wait_for_phase("failed")
    expect(opened.panel).to_contain_text("The kernel failed to start.")


def test_a_kernel_that_was_shut_down_is_none(notebook: OpenNotebook) -> None:
    opened = notebook([KEPT])
    opened.page.get_by_role("menuitem", name="Kernel").click()
    opened.page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Shut Down Kernel$")).click()
    opened.wait_for_phase("no_kernel")


def test_after_a_reload_all_that_was_known_is_there(notebook: OpenNotebook) -> None:
    opened = notebook([KEPT])
    opened.run(1)
    expect(opened.bar(1)).to_be_visible()
    opened.page.keyboard.press("Control+s")
    opened.page.reload()
    opened.open_panel()
    expect(opened.size(1)).to_have_text(re.compile(r"^\+64"))


@pytest.fixture
def wire(page: Page, lab: Server) -> Iterator[Wire]:
    """The connection of a page to the server."""
    # Lab says so whenever it next asks the server for something, in front of all else.
    lost = page.locator(".jp-Dialog", has_text="Server Connection Error")
    page.add_locator_handler(lost, lambda: lost.get_by_role("button", name="Close").click())
    with wired(lab.url) as wire:
        yield wire
    lab.end_kernels()


@pytest.mark.each_lab
def test_when_a_cut_connection_is_back_what_happened_meanwhile_is_there(
    page: Page, lab: Server, wire: Wire, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    cells = [KEPT, once(go, f"more = bytearray({32 * MIB})"), f"last = bytearray({16 * MIB})"]
    opened = cut_while_the_second_runs(Notebook(page, wire, lab.write("cut.ipynb", cells)), wire)
    go.touch()
    wait_until(lambda: not lab.is_busy())
    wire.mend()
    opened.reconnect()
    opened.wait_for_phase("ready")
    expect(opened.size(2)).to_have_text(re.compile(r"^\+32"))
    opened.run(3)
    expect(opened.size(3)).to_have_text(re.compile(r"^\+16"))
    bars = opened.panel.locator(".jp-xleak-Cell")
    expect(bars).to_have_count(3)
    bars.nth(1).hover()
    numbers = opened.panel.locator(".jp-xleak-Numbers")
    expect(numbers).to_contain_text("kept")
    expect(numbers).not_to_contain_text("Earlier runs")


def test_a_cell_that_outlives_a_cut_connection_is_live_again(
    page: Page, lab: Server, wire: Wire, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    cells = [KEPT, once(go, f"more = bytearray({32 * MIB})")]
    opened = cut_while_the_second_runs(Notebook(page, wire, lab.write("on.ipynb", cells)), wire)
    wire.mend()
    # Lab tries again by itself, after a time that it draws: longer with each try.
    running = "A cell is running. The kernel answers when it has ended."
    expect(opened.panel).to_contain_text(running, timeout=150_000)
    expect(opened.bar(2)).to_have_attribute("data-live", "true")
    go.touch()
    opened.wait_for_phase("ready")
    expect(opened.size(2)).to_have_text(re.compile(r"^\+32"))
    expect(opened.panel.locator(".jp-xleak-Cell")).to_have_count(2)


def test_a_crash_behind_a_cut_connection_leaves_what_was_known_apart(
    page: Page, lab: Server, wire: Wire, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    cells = [KEPT, once(go, "os._exit(1)"), f"kept = bytearray({16 * MIB})"]
    opened = cut_while_the_second_runs(Notebook(page, wire, lab.write("gone.ipynb", cells)), wire)
    before = lab.restarts()
    go.touch()
    wait_until(lambda: lab.restarts() > before)
    wire.mend()
    opened.reconnect()
    expect(opened.past_bar(1).locator(".jp-xleak-size")).to_have_text(re.compile(r"^\+64"))
    opened.wait_for_phase("ready")
    expect(opened.bar(1)).to_have_count(0)
    opened.run(3)
    expect(opened.size(3)).to_have_text(re.compile(r"^\+16"))
    expect(opened.past_bar(3)).to_have_count(0)


def cut_while_the_second_runs(opened: Notebook, wire: Wire) -> Notebook:
    """Cuts the connection when the first cell has ended, and says that the panel knows."""
    opened.open_panel()
    opened.run(1)
    opened.start(2)
    expect(opened.bar(2)).to_have_attribute("data-live", "true")
    wire.cut()
    opened.wait_for_phase("disconnected")
    expect(opened.panel).to_contain_text("The connection to the kernel is lost.")
    expect(opened.size(1)).to_have_text(re.compile(r"^\+64"))
    return opened


def test_after_a_reload_the_bars_of_a_crashed_session_are_there(notebook: OpenNotebook) -> None:
    opened = notebook([KEPT, "import os; os._exit(1)", f"kept = bytearray({16 * MIB})"])
    opened.run(1)
    opened.start(2)
    opened.page.locator(".jp-Dialog").get_by_role("button", name="Ok").click()
    expect(opened.past_bar(2)).to_be_visible()
    opened.wait_for_phase("ready")
    opened.run(3)
    opened.page.keyboard.press("Control+s")
    opened.page.reload()
    opened.open_panel()
    expect(opened.size(3)).to_have_text(re.compile(r"^\+16"))
    expect(opened.past_bar(1).locator(".jp-xleak-size")).to_have_text(re.compile(r"^\+64"))
    expect(opened.past_bar(2).locator(".jp-xleak-size")).to_have_text("?")
    expect(opened.past_bar(3)).to_have_count(0)


def test_two_notebooks_each_show_their_own(notebook: OpenNotebook, lab: Server) -> None:
    first = notebook([KEPT, "1"])
    first.run(1)
    name = lab.write("the_other.ipynb", ["2", f"more = bytearray({32 * MIB})"])
    first.page.locator(".jp-DirListing-itemText", has_text=name).dblclick()
    expect(first.page.locator(".lm-TabBar-tab.lm-mod-current", has_text=name)).to_be_visible()
    expect(first.bar(1)).to_have_count(0)
    first.wait_for_phase("ready")
    first.run(2)
    expect(first.size(2)).to_have_text(re.compile(r"^\+32"))
    first.page.locator(".lm-TabBar-tab", has_text="test_two_notebooks").click()
    expect(first.size(1)).to_have_text(re.compile(r"^\+64"))
    expect(first.bar(2)).to_have_count(0)


def test_while_the_panel_is_closed_and_nothing_is_found_no_more_than_hello_is_sent(
    page: Page, lab: Server
) -> None:
    told: list[str] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: told.extend(kinds(frame)))

    page.on("websocket", listen)
    opened = Notebook(page, lab, lab.write("closed.ipynb", [KEPT]))
    expect(page.get_by_text("Python 3 (xleak) | Idle")).to_be_visible()
    opened.run(1)
    # One for each connection: Lab may lose and find the kernel while both are busy to start.
    assert set(told) == {"hello"}
    opened.open_panel()
    expect(opened.bar(1)).to_be_visible()
    assert [it for it in told if it != "hello"] == ["session"]
    lab.end_kernels()


def kinds(frame: str | bytes) -> list[str]:
    """The kinds of our messages in a frame."""
    text = frame if isinstance(frame, str) else frame.decode(errors="replace")
    ours = (
        "hello|session|cell|findings|findings_count|done|error|live|progress|names|devices|policy"
    )
    return re.findall(rf'"kind": ?"({ours})"', text)
