"""Panels: what the kernel tells them by comm, and what they may have done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from harness import TIMEOUT, Session
from panel_client import Message, PanelClient
from xleak.panel.requests import MOST_IN_WINDOW

MIB = 1 << 20
MALLOC = "__import__('xleak')._native.heap().used_bytes"
STATE = "(len(In), sorted(Out), sorted(globals()), get_ipython().execution_count)"
# So many objects take a search far more time than it takes to ask for something.
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


def test_until_a_panel_subscribes_it_is_sent_the_number_of_findings_and_no_more(
    kernel: Session, new_panel: NewPanel
) -> None:
    panel = new_panel()
    assert panel.hello["protocol"] == 1
    assert {"subscribe", "run_fix", "late_findings"} <= set(panel.hello["capabilities"])
    leak(kernel)
    assert {it["kind"] for it in panel.told()} == {"findings_count"}


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


def test_a_panel_that_was_closed_is_sent_the_number_of_findings_alone(
    kernel: Session, panel: PanelClient
) -> None:
    assert panel.ask("unsubscribe") == {
        "kind": "done",
        "request": 2,
        "freed": {},
        "lines": [],
    }
    leak(kernel)
    assert {it["kind"] for it in panel.told()} == {"findings_count"}


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


def test_a_panel_that_opens_is_sent_the_memory_of_the_process(panel: PanelClient) -> None:
    assert panel.wait_for("process")["resident_bytes"] > MIB


@pytest.mark.parametrize(
    ("request_of_it", "arguments"),
    [("xdel", {"name": "value", "dry_run": False}), ("release_cache", {"dry_run": False})],
)
def test_after_a_release_every_panel_is_sent_the_memory_of_the_process(
    kernel: Session,
    panel: PanelClient,
    new_panel: NewPanel,
    request_of_it: str,
    arguments: dict[str, Any],
) -> None:
    other = new_panel()
    other.ask("subscribe")
    # Written, so that its pages are the process's.
    kernel.run(f"value = bytearray(b'x') * {64 * MIB}\nmemoryview(value)")
    if request_of_it == "release_cache":
        for cell in ("del value\n1", "2", "3"):
            kernel.run(cell)
    held = kernel.ask("__import__('xleak')._native.resident_bytes()")
    panel.told()
    other.told()
    assert panel.ask(request_of_it, **arguments)["kind"] == "done"
    now = panel.wait_for("process")["resident_bytes"]
    # A search has some memory of its own.
    assert now < held - 32 * MIB
    assert other.wait_for("process")["resident_bytes"] == now


def test_a_release_by_the_agent_is_reported_with_the_memory_of_the_process(
    kernel: Session, panel: PanelClient, report_again: None
) -> None:
    panel.ask("set_policy", policy="auto")
    panel.told()
    kernel.run(f"value = bytearray(b'x') * {64 * MIB}\nmemoryview(value)")
    held = kernel.ask("__import__('xleak')._native.resident_bytes()")
    for cell in ("del value\n1", "2", "3"):
        kernel.run(cell)
    panel.wait_for("released")
    assert panel.wait_for("process")["resident_bytes"] < held - 32 * MIB


def test_a_dry_run_sends_no_size_of_the_process(kernel: Session, panel: PanelClient) -> None:
    kernel.run("value = bytearray(1 << 20)")
    panel.told()
    panel.ask("xdel", name="value", dry_run=True)
    assert "process" not in [it["kind"] for it in panel.told()]


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
    would = panel.ask("release_cache", dry_run=True)
    done = panel.ask("release_cache", dry_run=False)
    assert done["freed"]["malloc"] >= 8 * MIB * 0.95
    assert would["freed"]["malloc"] == pytest.approx(8 * MIB, abs=64 << 10)
    assert [it.split(":")[0] for it in would["lines"]] == [it.split(":")[0] for it in done["lines"]]


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
    told = other.told()
    assert [it["kind"] for it in told] == ["journal", "findings", "cell"]
    assert told[1]["dismissed_now"] == 0


def test_what_was_dismissed_is_counted_and_shown_again_when_somebody_asks(
    kernel: Session, panel: PanelClient, new_panel: NewPanel
) -> None:
    found = finding_of(panel, leak(kernel))
    panel.ask("dismiss", finding=found["id"])
    other = new_panel()
    session = other.ask("subscribe")
    assert found["id"] not in [it["id"] for it in session["findings"]]
    assert session["dismissed_now"] == 1
    (report,) = kernel.run("%leakcheck").of("display_data")
    assert "1 dismissed not shown; %leakcheck --all" in report["data"]["text/plain"]
    other.told()
    assert panel.ask("show_dismissed")["kind"] == "done"
    told = other.wait_for("findings")
    assert found["id"] in [it["id"] for it in told["added"]]
    assert told["dismissed_now"] == 0
    kernel.run(f"%xdel {found['holders'][0]}")


def test_releasing_the_traceback_leaves_the_outputs_and_the_journal_names_it(
    kernel: Session, panel: PanelClient
) -> None:
    entry = leak(kernel)
    kernel.run(f"def fail():\n    held = bytearray({8 * MIB})\n    1 / 0")
    kernel.run("fail()")
    known = panel.ask("findings")["added"]
    traceback = next(it for it in known if it["code"] == "XL402")
    assert "XL401" in [it["code"] for it in known]
    done = panel.ask("run_fix", finding=traceback["id"], fix=0)
    assert done["freed"]["malloc"] == pytest.approx(8 * MIB, rel=0.05)
    assert kernel.ask(f"{entry}.nbytes") == 8 * MIB
    assert [it["code"] for it in panel.ask("findings")["added"]] == ["XL401"]
    last = panel.ask("journal")["entries"][-1]
    # What waits for the collector is collected first, so that the bytes are the traceback's own.
    gone = [it for it in last["what"].split(", ") if it != "garbage cycles"]
    assert (gone, last["why"]) == (["the last traceback"], "XL402, in the panel")
    kernel.run(f"%xdel {entry}")


def test_a_panel_waits_for_the_cell_that_runs(kernel: Session, panel: PanelClient) -> None:
    running = kernel.send("import time; time.sleep(0.2)")
    while panel.next_published()["msg_type"] != "execute_input":
        pass
    assert panel.ask("findings")["kind"] == "findings"
    assert kernel.wait(running).content["status"] == "ok"
    assert any(it["kind"] == "cell" for it in comm_data(panel))


def comm_data(panel: PanelClient, start: int = 0) -> list[Message]:
    ours = [it["content"] for it in panel.iopub[start:] if it["msg_type"] == "comm_msg"]
    return [it["data"] for it in ours if it["comm_id"] == panel.comm_id]


# --- what they may look at ---------------------------------------------------------------------


def test_a_running_cell_is_told_while_native_code_holds_the_lock(
    kernel: Session, panel: PanelClient
) -> None:
    """PyDLL keeps the lock: no Python runs for these two seconds."""
    panel.told()
    running = kernel.send(
        f"import ctypes\nkept = bytearray({64 * MIB})\nctypes.PyDLL(None).usleep(2_000_000)\ndel kept"
    )
    assert kernel.wait(running).content["status"] == "ok"
    told = panel.told(passing=True)
    live = [it for it in told if it["kind"] == "live"]
    assert 4 <= len(live) <= 9
    assert [it["kind"] for it in told[: len(live)]] == ["live"] * len(live), "none after its cell"
    cell = told[len(live)]["cell"]
    assert {it["index"] for it in live} == {cell["index"]}
    assert {it["resident_before_bytes"] for it in live} == {cell["host"]["resident_before_bytes"]}
    # The last one may come after `del`.
    highest = max(it["resident_bytes"] for it in live)
    assert highest - live[0]["resident_before_bytes"] >= 60 * MIB
    seconds = [it["seconds"] for it in live]
    assert seconds[0] >= 0.25
    assert all(b - a >= 0.25 for a, b in pairwise(seconds))
    parents = [it["parent_header"]["msg_id"] for it in panel.iopub if is_live(it)]
    assert set(parents[-len(live) :]) == {running}


def is_live(message: Message) -> bool:
    data = message["content"].get("data")
    return isinstance(data, dict) and data.get("kind") == "live"


def test_a_running_cell_is_told_to_subscribed_panels_alone(
    kernel: Session, panel: PanelClient, new_panel: NewPanel
) -> None:
    silent = new_panel()
    left = new_panel()
    left.ask("subscribe")
    left.ask("unsubscribe")
    kernel.run("import time; time.sleep(0.6)")
    assert "live" in [it["kind"] for it in panel.told(passing=True)]
    assert {it["kind"] for it in silent.told(passing=True)} <= {"findings_count"}
    assert left.told(passing=True) == []


def test_names_come_with_what_they_keep_the_largest_first(
    kernel: Session, panel: PanelClient
) -> None:
    kernel.run(f"alone = bytearray({12 * MIB}); first = [bytearray({8 * MIB})]; second = first")
    answer = panel.ask("names")
    facts = {it["name"]: it for it in answer["names"]}
    assert facts["alone"]["retained_bytes"] == pytest.approx(12 * MIB, rel=0.01)
    assert facts["alone"]["type"] == "bytearray"
    assert facts["first"]["retained_bytes"] == 0
    assert facts["first"]["shared_bytes"] == pytest.approx(8 * MIB, rel=0.01)
    sizes = [it["retained_bytes"] for it in answer["names"]]
    assert sizes == sorted(sizes, reverse=True)
    assert "get_ipython" not in facts
    kernel.run("del alone, first, second")


def test_of_many_names_the_rest_is_counted(kernel: Session, panel: PanelClient) -> None:
    kernel.run("for number in range(300): globals()[f'name_{number}'] = [number]")
    answer = panel.ask("names")
    assert len(answer["names"]) == 200
    assert answer["left_out"] >= 100
    kernel.run("for number in range(300): del globals()[f'name_{number}']")


def test_names_of_hostile_types_are_told_as_they_are(kernel: Session, panel: PanelClient) -> None:
    kernel.run("globals()['<img src=x onerror=alert(1)>'] = type('<b>' * 100, (), {})()")
    kernel.run("globals()['\\ud800'] = 1")
    told = {it["name"]: it["type"] for it in panel.ask("names")["names"]}
    assert told["<img src=x onerror=alert(1)>"].startswith("<b><b>")
    kernel.run("del globals()['<img src=x onerror=alert(1)>'], globals()['\\ud800']")


def test_the_way_to_what_a_name_keeps_is_told_step_by_step(
    kernel: Session, panel: PanelClient
) -> None:
    kernel.run(f"model = {{'a.b': [bytearray({8 * MIB})]}}")
    answer = panel.ask("path", name="model")
    assert answer["path"] == ["model", "['a.b']", "[0]"]
    assert answer["releasable_bytes"] == pytest.approx(8 * MIB, rel=0.01)
    assert answer["also"] == []
    kernel.run("cache = [model['a.b']]")
    held = panel.ask("path", name="model")
    assert held["also"] == ["cache[0][0]"]
    assert held["releasable_bytes"] < MIB
    kernel.run("del model, cache")


def test_what_was_shown_goes_with_its_name(kernel: Session, panel: PanelClient) -> None:
    shown = kernel.run(f"shown = bytearray({8 * MIB})\nmemoryview(shown)")
    entry = f"Out[{shown.content['execution_count']}]"
    answer = panel.ask("path", name=entry)
    assert answer["name"] == entry
    assert "shown" in answer["also"]
    kernel.run("del shown")
    assert panel.ask("path", name=entry)["releasable_bytes"] == pytest.approx(8 * MIB, rel=0.02)
    kernel.run(f"%xdel {entry}")


@pytest.mark.parametrize("name", ["nobody", "get_ipython", "a; b", "__builtins__"])
def test_there_is_no_way_from_what_is_no_name_of_the_users(panel: PanelClient, name: str) -> None:
    assert panel.ask("path", name=name)["kind"] == "error"


def test_the_census_has_each_live_tensor_and_the_cell_that_made_it(fresh_kernel: Session) -> None:
    panel = PanelClient(fresh_kernel.client)
    panel.ask("subscribe")
    assert panel.ask("census", page=1)["pages"] == 0
    fresh_kernel.run("import torch")
    fresh_kernel.run("model = {'w': torch.ones(1024, 1024, requires_grad=True)}")
    fresh_kernel.run("y = model['w'] * 2; view = y[:1]; many = [torch.ones(1) for _ in range(150)]")
    answer = panel.ask("census", page=1)
    first = {it["names"][0]: it for it in answer["storages"] if it["names"]}
    weight = first["model['w']"]
    assert weight["bytes"] == 4 * MIB
    assert (weight["dtype"], weight["shape"], weight["device"]) == ("float32", [1024, 1024], "cpu")
    assert (weight["cell"], weight["requires_grad"], weight["grad_fn"]) == (2, True, None)
    assert (first["y"]["cell"], first["y"]["grad_fn"]) == (3, "MulBackward0")
    assert first["y"]["names"] == ["y", "view"]
    assert len(answer["storages"]) == 100
    assert answer["pages"] == 2
    assert len(panel.ask("census", page=2)["storages"]) >= 50
    assert panel.ask("census", page=3)["storages"] == []
    panel.close()


def test_without_an_accelerator_there_are_no_devices(panel: PanelClient) -> None:
    assert panel.ask("devices")["devices"] == []


@pytest.fixture
def every_search_is_long(kernel: Session) -> Iterator[None]:
    """Whatever the speed of the machine; when a search counts as long is a test of `Progress`."""
    limit = "__import__('xleak.panel.progress').panel.progress.__dict__"
    seconds = kernel.ask(f"{limit}['BETWEEN_SECONDS']")
    kernel.ask(f"{limit}.update(BETWEEN_SECONDS=0)")
    yield
    kernel.ask(f"{limit}.update(BETWEEN_SECONDS={seconds})")


def test_a_long_search_says_so_before_its_answer(
    kernel: Session, panel: PanelClient, every_search_is_long: None
) -> None:
    start = len(panel.iopub)
    answer = panel.ask("names")
    progress = [it for it in comm_data(panel, start) if it["kind"] == "progress"]
    assert progress
    assert {it["request"] for it in progress} == {answer["request"]}


def test_a_search_in_the_idle_kernel_says_that_it_goes_on_and_that_it_is_over(
    kernel: Session, panel: PanelClient, every_search_is_long: None
) -> None:
    for cell in (MANY, CACHE, "del volume"):
        kernel.wait(kernel.send(cell))
    assert panel.wait_for("progress") == {"kind": "progress", "request": None, "share": None}
    while (last := panel.wait_for("progress"))["share"] is None:
        pass
    assert last == {"kind": "progress", "request": None, "share": 1}
    kernel.run("del many")


# --- policies ----------------------------------------------------------------------------------


AGENT = "__import__('xleak.shell.install').shell.install._installed.panel._agent"
WHEN_IDLE = "__import__('xleak.shell.watcher').shell.watcher.watcher().when_idle"


def rest(kernel: Session) -> None:
    """Until the kernel has rested, with all done that it then does by itself."""
    rests = "type('Rests', (list,), {'__call__': lambda rests: rests.append(1)})()"
    kernel.ask(f"{WHEN_IDLE}.append({rests})")
    deadline, pause = time.monotonic() + TIMEOUT, 0.3

    def wait() -> None:
        """Each question has the kernel wait for idle again, so the pauses grow."""
        nonlocal pause
        assert time.monotonic() < deadline, "the kernel does not rest"
        time.sleep(pause)
        pause *= 2

    while not kernel.ask(f"len({WHEN_IDLE}[-1])"):
        wait()
    kernel.ask(f"bool({WHEN_IDLE}.pop())")
    while kernel.ask(f"{AGENT}.is_busy"):
        wait()


@pytest.fixture
def report_again(kernel: Session) -> Iterator[None]:
    yield
    kernel.run("%xleak policy report")


def test_a_policy_is_every_panels(
    kernel: Session, panel: PanelClient, new_panel: NewPanel, report_again: None
) -> None:
    other = new_panel()
    assert other.ask("subscribe")["policy"] == "report"
    assert panel.ask("set_policy", policy="ask")["kind"] == "done"
    assert other.wait_for("policy")["policy"] == "ask"
    assert kernel.ask("get_ipython().run_line_magic('xleak', 'policy')") is None
    kernel.run("%xleak policy off")
    assert other.wait_for("policy")["policy"] == "off"
    assert new_panel().ask("subscribe")["policy"] == "off"


def test_by_itself_goes_what_no_name_reaches_and_no_more(
    kernel: Session, panel: PanelClient, report_again: None
) -> None:
    panel.ask("set_policy", policy="auto")
    shown = [leak(kernel) for _ in range(2)]
    named = kernel.run(f"named = bytearray({8 * MIB})\nmemoryview(named)")
    mentioned = leak(kernel)
    before = kernel.ask(MALLOC)
    kernel.run(f"len({mentioned}); 1")
    kernel.run("2")
    kernel.run("3")
    freed: dict[str, int] = {}
    while not freed.keys() >= set(shown):
        entries = panel.wait_for("journal")["entries"]
        freed |= {it["what"]: it["freed"]["malloc"] for it in entries}
    assert [freed[it] for it in shown] == [pytest.approx(8 * MIB, rel=0.05)] * 2
    kept = kernel.ask("sorted(Out)")
    assert not {int(entry[4:-1]) for entry in shown} & set(kept)
    assert {int(mentioned[4:-1]), named.content["execution_count"]} <= set(kept)
    assert before - kernel.ask(MALLOC) < 18 * MIB
    assert kernel.ask("named.__len__()") == 8 * MIB
    kernel.run(f"%xdel {mentioned}")


def test_what_the_last_underscore_means_stays(
    kernel: Session, panel: PanelClient, report_again: None
) -> None:
    panel.ask("set_policy", policy="auto")
    entry = leak(kernel)
    rest(kernel)
    assert kernel.ask("_.nbytes") == 8 * MIB
    kernel.run(f"%xdel {entry}")


def test_an_error_is_released_once_another_cell_has_run(
    kernel: Session, panel: PanelClient, report_again: None
) -> None:
    panel.ask("set_policy", policy="auto")
    # The release collects all garbage, that of other tests too.
    kernel.ask("__import__('gc').collect() >= 0")
    kernel.run(f"def fail():\n    big = bytearray({16 * MIB})\n    1 / 0")
    assert kernel.run("fail()").content["status"] == "error"
    assert "the last traceback" in kernel.findings()
    rest(kernel)
    assert kernel.ask("__import__('sys').last_value is not None")
    kernel.run("after = 1")
    released = panel.wait_for("released")
    assert released["freed"]["malloc"] == pytest.approx(16 * MIB, rel=0.05)
    assert kernel.ask("hasattr(__import__('sys'), 'last_value')") is False


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
    {"id": 1, "kind": "names", "name": "kept"},
    {"id": 1, "kind": "path", "name": "kept.append(1)"},
    {"id": 1, "kind": "census", "page": 10**9},
    {"id": 1, "kind": "set_policy", "policy": "off"},
    {"id": 1, "kind": "set_policy", "policy": ["auto"]},
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


def test_a_flood_is_answered_with_one_error(
    kernel: Session, new_panel: NewPanel, tmp_path: Path
) -> None:
    panel = new_panel()
    # All of them wait by the time that the first is read.
    sent = tmp_path / "sent"
    running = kernel.send(f"import os\nwhile not os.path.exists({str(sent)!r}): pass")
    for number in range(1, MOST_IN_WINDOW + 101):
        panel.post_data({"id": number, "kind": "unsubscribe"})
    sent.touch()
    answers = [it for it in panel.told() if it["kind"] != "findings_count"]
    kernel.wait(running)
    errors = [it for it in answers if it["kind"] == "error"]
    assert [it["message"][:17] for it in errors] == ["Too many requests"]
    assert len(answers) == MOST_IN_WINDOW + 1
    assert kernel.value("1 + 1") == "2"


def test_a_closed_comm_leaves_no_garbage(kernel: Session) -> None:
    comms = "sum(type(it).__name__ == 'KernelComm' for it in __import__('gc').get_objects())"
    kernel.run("import gc; gc.collect(); gc.disable()")
    before = kernel.ask(comms)
    panel = PanelClient(kernel.client)
    assert kernel.ask(comms) == before + 1
    panel.post("comm_close", {"data": {}})
    # It has a connection of its own, on which the kernel may read later.
    panel.told()
    panel.close()
    assert kernel.ask(comms) == before
    kernel.run("gc.enable()")


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


def test_what_the_source_repairs_comes_as_an_edit_of_the_guilty_cell(
    kernel: Session, panel: PanelClient
) -> None:
    kernel.run("import torch\nnet = torch.nn.Linear(64, 4096)\nrows = torch.rand(64, 64)")
    source = (
        "losses = []\nfor step in range(20):\n    # größer\n"
        "    loss = net(rows).square().mean()\n    losses.append(loss)"
    )
    kernel.run(source)
    # Losses are a leak once they outlived the cell that made them.
    panel.ask("findings")
    kernel.run("done = True")
    found = next(it for it in panel.ask("findings")["added"] if it["code"] == "XL102")
    run, edit = found["fixes"]
    assert (run["kind"], edit["kind"], edit["cell"]) == ("run", "edit", found["cause_cell"])
    text = source.encode()
    for it in reversed(edit["edits"]):
        text = text[: it["start"]] + it["text"].encode() + text[it["stop"] :]
    assert text.decode() == source.replace("append(loss)", "append(loss.detach())")
    # An edit is the front end's to make.
    refused = panel.ask("run_fix", finding=found["id"], fix=1)
    assert refused["message"] == "This finding has no such fix."
