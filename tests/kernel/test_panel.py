"""Panels: what the kernel tells them by comm, and what they may have done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from harness import Session
from panel_client import Message, PanelClient
from xleak.panel.requests import MOST_IN_WINDOW

MIB = 1 << 20
MALLOC = "__import__('xleak')._native.heap().used_bytes"
STATE = "(len(In), sorted(Out), sorted(globals()), get_ipython().execution_count)"
# So many objects take a search far more than the 30 ms that a cell may wait.
MANY = "many = [[number] for number in range(1_000_000)]"
CACHE = f"""
import functools
class Volume:
    def __init__(self): self.voxels = bytearray({16 * MIB})
    @functools.lru_cache
    def mean(self): return 1
volume = Volume()
volume.mean();
"""

NewPanel = Callable[[], PanelClient]


@pytest.fixture
def new_panel(kernel: Session) -> Iterator[NewPanel]:
    """Opens panels of further front ends; all are closed at the end."""
    opened: list[PanelClient] = []

    def opener() -> PanelClient:
        opened.append(PanelClient(kernel.client))
        return opened[-1]

    yield opener
    for panel in opened:
        panel.post("comm_close", {"data": {}})
        panel.close()


@pytest.fixture
def panel(new_panel: NewPanel) -> PanelClient:
    """One that is open and subscribed."""
    panel = new_panel()
    assert panel.ask("subscribe")["kind"] == "session"
    return panel


def leak(kernel: Session) -> str:
    """A value of 8 MiB that the output cache alone holds; its entry."""
    shown = kernel.run(f"value = bytearray({8 * MIB})\nmemoryview(value)")
    entry = f"Out[{shown.content['execution_count']}]"
    kernel.run("del value")
    assert entry in kernel.findings()
    return entry


def finding_of(panel: PanelClient, entry: str) -> Message:
    all_now = panel.ask("findings")["added"]
    found: Message = next(it for it in all_now if it["holders"][:1] == [entry])
    return found


# --- what they are told ------------------------------------------------------------------------


def test_the_kernel_says_hello_and_no_more_until_a_panel_subscribes(
    kernel: Session, new_panel: NewPanel
) -> None:
    panel = new_panel()
    assert panel.hello["protocol"] == 1
    assert {"subscribe", "run_fix", "late_findings"} <= set(panel.hello["capabilities"])
    leak(kernel)
    assert panel.told() == []


def test_a_subscribed_panel_is_told_of_each_cell_and_of_findings_after_it(
    kernel: Session, panel: PanelClient
) -> None:
    entry = leak(kernel)
    told = panel.told()
    assert [it["cell"]["status"] for it in told if it["kind"] == "cell"] == ["ok", "ok"]
    kinds = [it["kind"] for it in told]
    assert kinds.index("findings") > kinds.index("cell")
    added = [it for message in told for it in message.get("added", [])]
    assert [(it["code"], it["holders"][0]) for it in added] == [("XL401", entry)]
    assert added[0]["bytes"] == pytest.approx(8 * MIB, rel=0.02)


def test_a_panel_that_was_closed_is_told_nothing_more(kernel: Session, panel: PanelClient) -> None:
    assert panel.ask("unsubscribe") == {
        "kind": "done",
        "request": 2,
        "freed": {},
        "lines": [],
    }
    leak(kernel)
    assert panel.told() == []


def test_a_panel_that_opens_late_gets_all_that_is_known(
    kernel: Session, panel: PanelClient, new_panel: NewPanel
) -> None:
    entry = leak(kernel)
    session = new_panel().ask("subscribe")
    assert session["cells"][-1]["execution_count"] == int(entry[4:-1]) + 1
    assert session["earlier_cells"] == 0
    assert entry in [it["holders"][0] for it in session["findings"]]
    assert session["findings"] == panel.ask("findings")["added"]


def test_what_is_found_after_idle_is_told_at_once(fresh_kernel: Session) -> None:
    panel = PanelClient(fresh_kernel.client)
    panel.ask("subscribe")
    for cell in (MANY, CACHE, "del volume"):
        asked = fresh_kernel.send(cell)
        assert fresh_kernel.wait(asked).content["status"] == "ok"
    told = panel.wait_for("findings")
    assert [it["code"] for it in told["added"]] == ["XL404"]
    of_cell = [it for it in panel.iopub if it["parent_header"].get("msg_id") == asked]
    states = [it["content"].get("execution_state") for it in of_cell]
    assert states.index("idle") < len(states) - 1, "it came before the cell's idle"
    assert of_cell[-1]["content"]["data"] == told
    panel.close()


# --- what they may ask for ---------------------------------------------------------------------


def test_a_fix_gives_the_bytes_back_and_resolves_the_finding_for_every_panel(
    kernel: Session, panel: PanelClient, new_panel: NewPanel
) -> None:
    other = new_panel()
    other.ask("subscribe")
    found = finding_of(panel, leak(kernel))
    other.told()
    before = kernel.ask(MALLOC)
    done = panel.ask("run_fix", finding=found["id"], fix=0)
    assert before - kernel.ask(MALLOC) >= found["bytes"] * 0.95
    assert done["kind"] == "done"
    assert done["freed"]["malloc"] == pytest.approx(found["bytes"], rel=0.05)
    assert other.wait_for("findings")["resolved"] == [found["id"]]


def test_a_fix_is_no_cell(kernel: Session, panel: PanelClient) -> None:
    entry = leak(kernel)
    found = finding_of(panel, entry)
    inputs, shown, names, execution_count = kernel.ask(STATE)
    assert panel.ask("run_fix", finding=found["id"], fix=0)["kind"] == "done"
    after = kernel.ask(STATE)
    number = int(entry[4:-1])
    assert (after[0], after[3]) == (inputs, execution_count)
    assert after[1] == [it for it in shown if it != number]
    assert set(names) - {f"_{number}"} <= set(after[2]) <= set(names)
    assert "cell" not in [it["kind"] for it in panel.told()]


def test_a_finding_that_is_resolved_is_not_fixed_again(kernel: Session, panel: PanelClient) -> None:
    found = finding_of(panel, leak(kernel))
    assert panel.ask("run_fix", finding=found["id"], fix=0)["kind"] == "done"
    again = panel.ask("run_fix", finding=found["id"], fix=0)
    assert again["message"] == "This finding is already resolved."


def test_a_fix_is_not_run_once_the_value_is_in_use_again(
    kernel: Session, panel: PanelClient
) -> None:
    entry = leak(kernel)
    found = finding_of(panel, entry)
    kernel.run(f"taken = {entry}")
    assert panel.ask("run_fix", finding=found["id"], fix=0)["kind"] == "error"
    assert kernel.ask("taken.nbytes") == 8 * MIB
    assert kernel.ask(f"{entry}.nbytes") == 8 * MIB
    kernel.run("del taken")


def test_xdel_by_name_says_what_it_would_do_and_does_it(
    kernel: Session, panel: PanelClient
) -> None:
    kernel.run(f"name = bytearray({8 * MIB})")
    would = panel.ask("xdel", name="name", dry_run=True)
    assert would["freed"]["malloc"] == pytest.approx(8 * MIB, rel=0.02)
    assert would["lines"][0] == "name: would drop name"
    assert kernel.ask("len(name)") == 8 * MIB
    done = panel.ask("xdel", name="name", dry_run=False)
    assert done["freed"]["malloc"] == pytest.approx(8 * MIB, rel=0.02)
    assert kernel.ask("'name' in globals()") is False
    assert "is not defined" in panel.ask("xdel", name="name", dry_run=False)["message"]


def test_release_cache_gives_back_what_nobody_uses(kernel: Session, panel: PanelClient) -> None:
    leak(kernel)
    for number in range(4):
        kernel.run(str(number))
    done = panel.ask("release_cache", dry_run=False)
    assert done["freed"]["malloc"] >= 8 * MIB * 0.95
    assert done["lines"][0].startswith("Tracebacks: ")


def test_a_dismissed_finding_is_told_to_no_panel_again(
    kernel: Session, panel: PanelClient, new_panel: NewPanel
) -> None:
    other = new_panel()
    other.ask("subscribe")
    found = finding_of(panel, leak(kernel))
    other.told()
    assert panel.ask("dismiss", finding=found["id"])["kind"] == "done"
    assert other.wait_for("findings")["dismissed"] == [found["id"]]
    assert found["id"] not in [it["id"] for it in other.ask("findings")["added"]]
    kernel.run(f"%xdel {found['holders'][0]}")
    assert [it["kind"] for it in other.told()] == ["cell"]


def test_a_panel_waits_for_the_cell_that_runs(kernel: Session, panel: PanelClient) -> None:
    running = kernel.send("import time; time.sleep(0.2)")
    while panel.next_published()["msg_type"] != "execute_input":
        pass
    assert panel.ask("findings")["kind"] == "findings"
    assert kernel.wait(running).content["status"] == "ok"
    assert any(it["kind"] == "cell" for it in comm_data(panel))


def comm_data(panel: PanelClient) -> list[Message]:
    ours = [it["content"] for it in panel.iopub if it["msg_type"] == "comm_msg"]
    return [it["data"] for it in ours if it["comm_id"] == panel.comm_id]


# --- what no honest panel sends ----------------------------------------------------------------

NO_REQUESTS: list[Any] = [
    None,
    5,
    "subscribe",
    [],
    {},
    {"id": 1},
    {"kind": "subscribe"},
    {"id": True, "kind": "subscribe"},
    {"id": -1, "kind": "subscribe"},
    {"id": 2**63, "kind": "subscribe"},
    {"id": "1", "kind": "subscribe"},
    {"id": 1, "kind": "evaluate", "code": "wanted = 1"},
    {"id": 1, "kind": ["subscribe"]},
    {"id": 1, "kind": "__class__"},
    {"id": 1, "kind": "run_fix", "finding": "Out[1]", "fix": 0},
    {"id": 1, "kind": "run_fix", "finding": "00000000-1", "fix": 0},
    {"id": 1, "kind": "run_fix", "finding": "00000000-1", "fix": 0, "code": "wanted = 1"},
    {"id": 1, "kind": "xdel", "name": "kept", "dry_run": 0},
    {"id": 1, "kind": "xdel", "name": "kept; wanted = 1", "dry_run": False},
    {"id": 1, "kind": "xdel", "name": "-n kept", "dry_run": False},
    {"id": 1, "kind": "xdel", "name": "kept.__class__", "dry_run": False},
    {"id": 1, "kind": "xdel", "name": "get_ipython", "dry_run": False},
    {"id": 1, "kind": "xdel", "name": "x" * (1 << 20), "dry_run": False},
    {"id": 1, "kind": "xdel", "name": {"kept": [1]}, "dry_run": False},
    {"id": 1, "kind": "subscribe", "x": [[[[[]]]]]},
    {"id": 1, "kind": "dismiss", "finding": "ffffffff-1"},
]


@pytest.mark.parametrize("data", NO_REQUESTS, ids=lambda data: str(data)[:60])
def test_what_is_no_request_is_answered_with_one_error_and_changes_nothing(
    kernel: Session, new_panel: NewPanel, data: Any
) -> None:
    kernel.run("kept = [1]")
    panel = new_panel()
    before = kernel.ask(STATE)
    panel.post_data(data)
    error = panel.wait_for("error")
    readable = isinstance(data, dict) and type(data.get("id")) is int and 0 < data["id"] < 2**53
    assert error["request"] == (data["id"] if readable else None)
    assert len(error["message"]) < 2000
    assert panel.told() == []
    assert kernel.ask(STATE) == before
    assert kernel.run("1").content["status"] == "ok"


def test_buffers_are_refused(panel: PanelClient) -> None:
    panel.post_data({"id": 9, "kind": "findings"}, [b"x" * 100_000])
    assert panel.wait_for("error")["request"] == 9


def test_the_same_request_twice_is_carried_out_once(kernel: Session, panel: PanelClient) -> None:
    kernel.run("once = 1")
    request = {"id": 9, "kind": "xdel", "name": "once", "dry_run": False}
    panel.post_data(request)
    assert panel.wait_for("done")["request"] == 9
    kernel.run("once = 2")
    panel.post_data(request)
    assert "must be above" in panel.wait_for("error")["message"]
    assert kernel.ask("once") == 2


def test_a_flood_is_answered_with_one_error(kernel: Session, new_panel: NewPanel) -> None:
    panel = new_panel()
    # All of them wait by the time that the first is read.
    running = kernel.send("import time; time.sleep(0.5)")
    for number in range(1, MOST_IN_WINDOW + 101):
        panel.post_data({"id": number, "kind": "unsubscribe"})
    answers = panel.told()
    kernel.wait(running)
    errors = [it for it in answers if it["kind"] == "error"]
    assert [it["message"][:17] for it in errors] == ["Too many requests"]
    assert len(answers) == MOST_IN_WINDOW + 1
    assert kernel.value("1 + 1") == "2"


def test_of_too_many_comms_the_oldest_is_closed(kernel: Session, new_panel: NewPanel) -> None:
    first = new_panel()
    for number in range(16):
        first.post("comm_open", {"comm_id": f"more-{number}", "target_name": "xleak", "data": {}})
    first.told()
    closed = [it["content"]["comm_id"] for it in first.iopub if it["msg_type"] == "comm_close"]
    assert closed == [first.comm_id]
    for number in range(16):
        first.post("comm_close", {"comm_id": f"more-{number}", "data": {}})
    assert kernel.value("1 + 1") == "2"
