"""A breakpoint hit through the debug protocol, as JupyterLab does it."""

from __future__ import annotations

import queue
from typing import Any

import pytest
from harness import TIMEOUT, Message, Session

pytestmark = pytest.mark.each_ipython

CODE = "def f(a):\n    b = a + 1\n    return b\nf(41)"


class Debugger:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.seq = 0

    def ask(self, command: str, **arguments: Any) -> Message:
        self.seq += 1
        content = {"type": "request", "seq": self.seq, "command": command, "arguments": arguments}
        reply: Message = self.session.request("debug_request", content, channel="control")[
            "content"
        ]
        assert reply.get("success", True), reply
        return reply


def wait_for_event(session: Session, event: str) -> Message:
    seen: list[tuple[str, Message]] = []
    while True:
        try:
            message = session.client.get_iopub_msg(timeout=TIMEOUT)
        except queue.Empty:
            pytest.fail(f"no event {event!r} within {TIMEOUT} s; what came: {seen}")
        content: Message = message["content"]
        if message["msg_type"] == "debug_event" and content["event"] == event:
            return content
        seen.append((message["msg_type"], content))


def test_a_breakpoint_is_hit_and_the_frame_can_be_read(fresh_kernel: Session) -> None:
    session = fresh_kernel
    debugger = Debugger(session)
    debugger.ask(
        "initialize",
        clientID="test",
        adapterID="debugpy",
        pathFormat="path",
        linesStartAt1=True,
        columnsStartAt1=True,
    )
    debugger.ask("attach")
    path = debugger.ask("dumpCell", code=CODE)["body"]["sourcePath"]
    debugger.ask(
        "setBreakpoints", breakpoints=[{"line": 2}], source={"path": path}, sourceModified=False
    )
    debugger.ask("configurationDone")
    assert debugger.ask("debugInfo")["body"]["isStarted"] is True
    msg_id = session.send(CODE)
    thread = wait_for_event(session, "stopped")["body"]["threadId"]
    frames = debugger.ask("stackTrace", threadId=thread)["body"]["stackFrames"]
    assert (frames[0]["name"], frames[0]["line"]) == ("f", 2)
    scope = debugger.ask("scopes", frameId=frames[0]["id"])["body"]["scopes"][0]
    variables = debugger.ask("variables", variablesReference=scope["variablesReference"])["body"][
        "variables"
    ]
    assert ("a", "41") in [(v["name"], v["value"]) for v in variables]
    debugger.ask("continue", threadId=thread)
    assert session.wait(msg_id).value == "42"
    debugger.ask("disconnect", restart=False, terminateDebuggee=False)
    assert session.value("1 + 1") == "2"


def test_a_kernel_with_a_debugger_attached_shuts_down(fresh_kernel: Session) -> None:
    debugger = Debugger(fresh_kernel)
    debugger.ask("initialize", clientID="test", adapterID="debugpy")
    debugger.ask("attach")
    fresh_kernel.request("shutdown_request", {"restart": False}, channel="control")
    assert fresh_kernel.process.wait(TIMEOUT) == 0


def test_variables_can_be_inspected_without_a_breakpoint(fresh_kernel: Session) -> None:
    fresh_kernel.run("seen = 5")
    debugger = Debugger(fresh_kernel)
    debugger.ask("initialize", clientID="test", adapterID="debugpy")
    debugger.ask("attach")
    variables = debugger.ask("inspectVariables")["body"]["variables"]
    assert ("seen", "5") in [(v["name"], v["value"]) for v in variables]


def test_a_request_that_fails_inside_the_debugger_is_answered(fresh_kernel: Session) -> None:
    content = {"type": "request", "seq": 1, "command": "inspectVariables", "arguments": {}}
    reply = fresh_kernel.request("debug_request", content, channel="control")["content"]
    assert reply["success"] is False
    assert fresh_kernel.value("1 + 1") == "2"
