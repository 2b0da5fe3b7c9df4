"""Repairs that are pressed in a panel while threads give and take away names, outputs and their values."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from harness import Message
from harness import Session as Kernel
from panel_client import PanelClient
from shells import Session
from xleak.panel import actions
from xleak.panel.requests import Refused
from xleak.shell import forgetting, release

MIB = 1 << 20

# A thread gets its turn between any two calls.
CHANGING = """
import sys, threading
interval = sys.getswitchinterval()
sys.setswitchinterval(1e-6)
stopped, lasting = threading.Event(), []
def change(number):
    count = 0
    while not stopped.is_set():
        count += 1
        if count % 40 == 0: stopped.wait(0.0005)
        globals()[f"made_{number}_{count % 300}"] = [number]
        globals().pop(f"made_{number}_{count * 7 % 300}", None)
        if count % 1000 == 0:
            name = f"lasting_{number}_{count}"
            globals()[name] = lasting.append(name)
        Out[-number - 1 - count % 50] = [count]
        Out.pop(-number - 1 - count * 3 % 50, None)
threads = [threading.Thread(target=change, args=(number,), daemon=True) for number in range(2)]
for thread in threads: thread.start()
"""


def press_all(panel: PanelClient) -> list[Message]:
    """Each repair twice, as somebody does who sees nothing happen."""
    found = [it for it in panel.ask("findings")["added"] if it["fixes"]]
    return [panel.ask("run_fix", finding=it["id"], fix=0) for it in found for _ in range(2)]


def test_repairs_and_names_that_threads_change_meanwhile_fail_nowhere_and_lose_nothing(
    fresh_kernel: Kernel,
) -> None:
    kernel = fresh_kernel
    assert kernel.run(CHANGING).content["status"] == "ok"
    panel = PanelClient(kernel.client)
    panel.ask("subscribe")
    answers: list[Message] = []
    for _ in range(4):
        kernel.run(f"value = bytearray({8 * MIB})\nmemoryview(value)")
        kernel.run("del value")
        pressed = press_all(panel)
        assert [it["kind"] for it in pressed] == ["done", "error"]
        assert pressed[1]["message"] == "This finding is already resolved."
        kernel.run(f"target = bytearray({8 * MIB}); kept = [target]")
        answers += [
            panel.ask("names"),
            panel.ask("path", name="kept"),
            panel.ask("xdel", name="target", dry_run=True),
            panel.ask("xdel", name="target", dry_run=False),
            panel.ask("release_cache", dry_run=False),
        ]
    kernel.run(
        "stopped.set()\nfor thread in threads: thread.join()\nsys.setswitchinterval(interval)"
    )
    assert [it for it in answers if it["kind"] == "error"] == []
    assert kernel.value("len(lasting) > 0, [it for it in lasting if it not in globals()]") == (
        "(True, [])"
    )
    assert kernel.value("len(kept[0])") == str(8 * MIB)
    panel.close()


def test_an_output_that_is_gone_before_its_repair_is_pressed_is_one_sentence(
    fresh_kernel: Kernel,
) -> None:
    kernel = fresh_kernel
    kernel.run(f"value = bytearray({8 * MIB})\nmemoryview(value)")
    kernel.run("del value")
    one, other = PanelClient(kernel.client), PanelClient(kernel.client)
    for panel in (one, other):
        panel.ask("subscribe")
    [found] = one.ask("findings")["added"]
    assert one.ask("run_fix", finding=found["id"], fix=0)["kind"] == "done"
    answer = other.ask("run_fix", finding=found["id"], fix=0)
    assert answer["message"] == "This finding is already resolved."
    for panel in (one, other):
        panel.close()


def test_a_name_that_a_thread_gives_while_a_repair_runs_stays(session: Session) -> None:
    user_ns = session.shell.user_ns

    def name_it() -> None:
        thread = threading.Thread(target=user_ns.update, kwargs={"lasting": [1]})
        thread.start()
        thread.join()

    user_ns["name_it"] = name_it
    fix: Any = SimpleNamespace(code="import colorsys\nmine = 1\nname_it()")
    actions.run_fix(session.shell, fix)
    assert user_ns["lasting"] == [1]
    assert not {"colorsys", "mine"} & user_ns.keys()


@pytest.mark.parametrize("change", ["another value", "gone"])
def test_a_name_that_changes_while_its_value_is_looked_for_is_not_deleted(
    session: Session, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    session.run(f"target = bytearray({8 * MIB})")
    user_ns, planned = session.shell.user_ns, forgetting.make_plan
    another = bytearray(MIB)

    def plan(*arguments: Any) -> Any:
        made = planned(*arguments)
        user_ns.pop("target")
        user_ns.update({"target": another} if change == "another value" else {})
        return made

    monkeypatch.setattr(release, "make_plan", plan)
    with pytest.raises(Refused, match="'target' was changed while its value was looked for"):
        actions.xdel("target", dry_run=False)
    assert user_ns.get("target", None) is (another if change == "another value" else None)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("%xdel Out[77]", r"Out\[77\] is not kept: nothing to delete\."),
        ("%no_such_magic", r"Line magic function `%no_such_magic` not found\."),
    ],
)
def test_what_a_magic_refuses_is_its_own_sentence(
    session: Session, code: str, sentence: str
) -> None:
    fix: Any = SimpleNamespace(code=code)
    with pytest.raises(Refused, match=f"^{sentence}$"):
        actions.run_fix(session.shell, fix)
    assert not hasattr(sys, "last_value")
