"""Messages that lack what they cannot be served without: refused before any Python runs for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from harness import TIMEOUT, IpykernelManager, Message, Session, XleakManager, start, stop

NEED_CODE = ["execute_request", "complete_request", "inspect_request", "is_complete_request"]
ODD: list[Any] = [
    {},
    {"code": 5, "comm_id": 5, "target_name": 5, "cursor_pos": "x", "data": 5},
    {"code": None, "comm_id": None, "target_name": None},
    {"command": 5, "hist_access_type": 5, "n": "x", "session": "y"},
    {"code": ["1"], "comm_id": ["1"], "target_name": ["1"]},
]
COMMS = ["comm_open", "comm_msg", "comm_close"]
OTHERS = [
    "history_request",
    "comm_info_request",
    "kernel_info_request",
    "connect_request",
    "usage_request",
    "debug_request",
    "input_reply",
    "no_such_request",
    "execute_reply",
    "status",
    "",
]


def post(session: Session, msg_type: str, content: Any, channel: str = "shell") -> str:
    message = session.client.session.msg(msg_type, content)
    getattr(session.client, f"{channel}_channel").send(message)
    return str(message["header"]["msg_id"])


def published(session: Session, msg_id: str) -> list[Message]:
    """All that was published for a message, up to its idle."""
    found: list[Message] = []
    while not found or found[-1]["content"].get("execution_state") != "idle":
        message = session.client.get_iopub_msg(timeout=TIMEOUT)
        if message["parent_header"].get("msg_id") == msg_id:
            found.append(message)
    return found


@pytest.mark.parametrize("msg_type", NEED_CODE)
@pytest.mark.parametrize("content", ODD, ids=["empty", "numbers", "nulls", "others", "lists"])
def test_a_request_without_its_code_is_refused_and_runs_nothing(
    kernel: Session, msg_type: str, content: Any
) -> None:
    count = kernel.ask("get_ipython().execution_count")
    reply = kernel.request(msg_type, content)["content"]
    assert (reply["status"], reply["evalue"]) == ("error", f"{msg_type} lacks the text code")
    assert kernel.ask("get_ipython().execution_count") == count


@pytest.mark.parametrize("msg_type", COMMS)
@pytest.mark.parametrize("content", ODD, ids=["empty", "numbers", "nulls", "others", "lists"])
def test_a_message_of_no_comm_is_dropped_without_an_error_under_a_cell(
    kernel: Session, msg_type: str, content: Any
) -> None:
    states = published(kernel, post(kernel, msg_type, content))
    assert [it["content"].get("execution_state") for it in states] == ["busy", "idle"]
    assert kernel.ask("len(get_ipython().kernel.comm_manager.comms)") == 0


@pytest.fixture(params=[XleakManager, IpykernelManager], ids=["xleak", "ipykernel"])
def either_kernel(request: pytest.FixtureRequest) -> Iterator[Session]:
    session = start(kind=request.param)
    yield session
    stop(session)


def test_after_two_thousand_odd_messages_the_kernel_is_as_before(either_kernel: Session) -> None:
    contents = [*ODD, {"code": "1", "silent": "no", "user_expressions": 5}]
    for _ in range(10):
        for msg_type in (*NEED_CODE, *COMMS, *OTHERS):
            for content in contents:
                for channel in ("shell", "control"):
                    post(either_kernel, msg_type, content, channel)
    either_kernel.request("kernel_info_request", channel="control")
    assert either_kernel.value("1 + 1") == "2"
    assert either_kernel.ask("len(get_ipython().kernel.comm_manager.comms)") == 0
