"""Messages that no honest front end sends: each is dropped or answered, and the kernel goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from harness import Message, Session

REQUESTS = [
    "execute_request",
    "complete_request",
    "inspect_request",
    "is_complete_request",
    "history_request",
    "comm_info_request",
    "comm_open",
    "kernel_info_request",
    "usage_request",
    "debug_request",
    "no_such_request",
]
CONTENTS: list[Any] = [
    {},
    [],
    None,
    5,
    {"code": 5, "cursor_pos": "x", "detail_level": "y"},
    {"hist_access_type": 5, "n": "x", "session": "y"},
    {"command": 5},
    {"code": "1", "silent": "no", "user_expressions": 5},
    {"comm_id": 5, "target_name": 5, "data": 5},
]
EMPTY = b"{}"
DEEP = b"[" * 200_000 + b"]" * 200_000


def send(session: Session, channel: str, *parts: bytes) -> None:
    """Four parts of a message as they are, rightly signed."""
    signature = session.client.session.sign(list(parts))
    socket = getattr(session.client, f"{channel}_channel").socket
    socket.send_multipart([b"<IDS|MSG>", signature, *parts])


def header(session: Session, msg_type: str) -> bytes:
    return json.dumps(session.client.session.msg_header(msg_type), default=str).encode()


@pytest.mark.parametrize("channel", ["shell", "control"])
@pytest.mark.parametrize("msg_type", REQUESTS)
def test_contents_of_wrong_types_do_not_end_the_kernel(
    kernel: Session, channel: str, msg_type: str
) -> None:
    for content in CONTENTS:
        part = json.dumps(content).encode()
        send(kernel, channel, header(kernel, msg_type), EMPTY, EMPTY, part)
    kernel.request("usage_request", channel="control")
    assert kernel.value("1 + 1") == "2"


@pytest.mark.parametrize("channel", ["shell", "control"])
def test_malformed_parts_are_dropped(kernel: Session, channel: str) -> None:
    good = header(kernel, "kernel_info_request")
    for part in (b"", b"[]", b"5", b"{", b"\xff\xfe", b'{"msg_type": 5}', DEEP):
        send(kernel, channel, part, EMPTY, EMPTY, EMPTY)
        send(kernel, channel, good, part, EMPTY, EMPTY)
        send(kernel, channel, good, EMPTY, part, EMPTY)
        send(kernel, channel, good, EMPTY, EMPTY, part)
    socket = getattr(kernel.client, f"{channel}_channel").socket
    for frames in ([b""], [b"<IDS|MSG>"], [b"<IDS|MSG>", b"x"], [b"a"] * 9):
        socket.send_multipart(frames)
    kernel.request("usage_request", channel="control")
    assert kernel.value("1 + 1") == "2"


def test_brackets_in_code_are_no_depth(kernel: Session) -> None:
    assert kernel.value(f"len({'[' * 1000!r}), 'a\\\"[['") == "(1000, 'a\"[[')"


def test_only_the_shell_channel_runs_code(kernel: Session) -> None:
    for msg_type in ("execute_request", "complete_request", "history_request"):
        reply = kernel.request(msg_type, {"code": "stray = 1", "cursor_pos": 1}, channel="control")
        assert reply["content"]["status"] == "error"
    assert kernel.value("'stray' in globals()") == "False"


def debug(session: Session, **content: Any) -> Message:
    asked = {"type": "request", "seq": 1, **content}
    reply: Message = session.request("debug_request", asked, channel="control")["content"]
    return reply


def test_the_debugger_is_asked_only_what_it_can_read(fresh_kernel: Session) -> None:
    start = {"clientID": "test", "adapterID": "debugpy"}
    assert debug(fresh_kernel, command="initialize", arguments=5)["success"] is False
    assert debug(fresh_kernel, command="initialize", arguments=start)["success"] is True
    debug(fresh_kernel, command="attach", arguments={})
    for command in ("dumpCell", "setBreakpoints", "source", "richInspectVariables"):
        assert debug(fresh_kernel, command=command)["success"] is False
        assert debug(fresh_kernel, command=command, arguments={"source": 5})["success"] is False
    assert debug(fresh_kernel, command="debugInfo", seq="x")["success"] is False
    assert debug(fresh_kernel, command="debugInfo")["body"]["isStarted"] is True
