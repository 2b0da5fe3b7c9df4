"""Messages that no honest front end sends: each is dropped or answered, and the kernel goes on."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from typing import Any

import psutil
import pytest
import zmq
from harness import TIMEOUT, Message, Session

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


# As ZMTP 3.0 has it, for what ZeroMQ's own sockets would not send.
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
READY = b"\x05READY\x0bSocket-Type" + (3).to_bytes(4, "big") + b"SUB"


def test_a_topic_of_megabytes_is_not_kept_and_the_others_are_heard(kernel: Session) -> None:
    process = psutil.Process(kernel.process.pid)
    before = process.memory_info().rss
    with socket.create_connection((kernel.client.ip, kernel.client.iopub_port), TIMEOUT) as peer:
        peer.sendall(GREETING + b"\x04" + bytes([len(READY)]) + READY)
        subscription = b"\x01" + b"a" * (4 << 20)
        with suppress(ConnectionError):
            peer.sendall(b"\x02" + len(subscription).to_bytes(8, "big") + subscription)
            while peer.recv(4096):
                pass  # Until the kernel hangs up.
    # As a tree with a node for each byte it would take far more.
    assert process.memory_info().rss - before < 64 << 20
    assert kernel.value("1 + 1") == "2"


def test_a_flood_of_subscriptions_does_not_hold_up_the_cells(kernel: Session) -> None:
    with zmq.Context() as context, context.socket(zmq.XSUB) as peer:
        peer.linger = 0
        peer.connect(kernel.client._make_url("iopub"))
        for number in range(20_000):
            peer.send(b"\x01%d" % number)
        # What is no subscription, in parts too.
        peer.send_multipart([b"x" * 100, b"", b"\x01in a part"])
        peer.send(b"")
        assert kernel.value("1 + 1") == "2"
        peer.send(b"\x01last")
        while b"last" not in (parts := peer.recv_multipart())[0]:
            assert parts
    kernel.request("usage_request", channel="control")
    assert kernel.value("2 + 2") == "4"
