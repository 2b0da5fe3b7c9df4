"""Who may speak to the kernel: whoever signs with the key, each message once; everybody where there is no key."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from harness import IPYTHON_DIR, TIMEOUT, IpykernelManager, Session, XleakManager, stop

COUNT = "runs = globals().get('runs', 0) + 1"
KINDS = pytest.mark.parametrize(
    "kind", [XleakManager, IpykernelManager], ids=["xleak", "ipykernel"]
)


@contextmanager
def launched(
    kind: type[XleakManager], key: bytes | None = None, log: Path | None = None
) -> Iterator[Session]:
    """A kernel that nobody has spoken to. log: what it says on its terminal."""
    manager = kind()
    if key is not None:
        manager.session.key = key
    terminal = (log or Path(os.devnull)).open("wb")
    manager.start_kernel(stderr=terminal, env={**os.environ, "IPYTHONDIR": IPYTHON_DIR})
    client = manager.client()
    client.start_channels()
    session = Session(manager, client)
    yield session
    stop(session)
    terminal.close()


def parts(session: Session, msg_type: str, content: dict[str, Any]) -> list[bytes]:
    """A message that is new, in its four parts."""
    header = session.client.session.msg_header(msg_type)
    return [json.dumps(part, default=str).encode() for part in (header, {}, {}, content)]


def execute(session: Session, code: str = COUNT) -> list[bytes]:
    return parts(session, "execute_request", {"code": code, "silent": False})


def send(
    session: Session,
    message: list[bytes],
    signature: bytes | None = None,
    channel: str = "shell",
) -> None:
    if signature is None:
        signature = session.client.session.sign(message)
    socket = getattr(session.client, f"{channel}_channel").socket
    socket.send_multipart([b"<IDS|MSG>", signature, *message])


def is_answered(session: Session, message: list[bytes], channel: str) -> bool:
    """Whether a reply comes before that to a later request on the same channel."""
    get, wanted = getattr(session.client, f"get_{channel}_msg"), json.loads(message[0])["msg_id"]
    later = session.client.session.msg("kernel_info_request", {})
    getattr(session.client, f"{channel}_channel").send(later)
    replies: set[str] = set()
    while later["header"]["msg_id"] not in replies:
        replies.add(get(timeout=TIMEOUT)["parent_header"]["msg_id"])
    return wanted in replies


@KINDS
def test_an_empty_key_means_that_nothing_is_signed_and_nothing_checked(
    kind: type[XleakManager],
) -> None:
    with launched(kind, key=b"") as kernel:
        kernel.client.wait_for_ready(timeout=TIMEOUT)
        message = execute(kernel)
        for signature in (b"", b"of somebody else", b""):
            send(kernel, message, signature)
        assert kernel.value("runs") == "3"
        kernel.client.kernel_info()
        raw = kernel.client.iopub_channel.socket.recv_multipart()
        assert raw[raw.index(b"<IDS|MSG>") + 1] == b""


def test_the_debugger_of_a_kernel_without_a_key_answers() -> None:
    with launched(XleakManager, key=b"") as kernel:
        kernel.client.wait_for_ready(timeout=TIMEOUT)
        asked = {
            "type": "request",
            "seq": 1,
            "command": "initialize",
            "arguments": {"clientID": "test", "adapterID": "debugpy"},
        }
        reply = kernel.request("debug_request", asked, channel="control")
        assert reply["content"]["success"] is True


@KINDS
def test_a_signature_that_is_cut_or_goes_on_is_none(kind: type[XleakManager]) -> None:
    with launched(kind) as kernel:
        kernel.client.wait_for_ready(timeout=TIMEOUT)
        for change in (lambda it: it[:-1], lambda it: it[:1], lambda it: it + b"0", lambda it: b""):
            message = execute(kernel)
            send(kernel, message, change(kernel.client.session.sign(message)))
            assert not is_answered(kernel, message, "shell")
        assert kernel.value("'runs' in globals()") == "False"


@KINDS
def test_a_copy_of_a_message_does_not_run_again(kind: type[XleakManager]) -> None:
    with launched(kind) as kernel:
        # From the first moment on.
        early = execute(kernel)
        send(kernel, early)
        send(kernel, early)
        kernel.client.wait_for_ready(timeout=TIMEOUT)
        assert kernel.value("runs") == "1"
        later = execute(kernel)
        send(kernel, later)
        assert is_answered(kernel, later, "shell")
        for _ in range(3):
            send(kernel, later)
            assert not is_answered(kernel, later, "shell")
        assert kernel.value("runs") == "2"


@KINDS
@pytest.mark.parametrize("first", ["shell", "control"])
@pytest.mark.parametrize("second", ["shell", "control"])
def test_a_copy_is_refused_on_every_channel(
    kind: type[XleakManager], first: str, second: str
) -> None:
    with launched(kind) as kernel:
        kernel.client.wait_for_ready(timeout=TIMEOUT)
        message = parts(kernel, "kernel_info_request", {})
        send(kernel, message, channel=first)
        assert is_answered(kernel, message, first)
        send(kernel, message, channel=second)
        assert not is_answered(kernel, message, second)


@KINDS
def test_a_copy_of_an_answer_is_no_answer_to_the_next_question(kind: type[XleakManager]) -> None:
    with launched(kind) as kernel:
        kernel.client.wait_for_ready(timeout=TIMEOUT)
        msg_id = kernel.send("answers = [input(), input()]", allow_stdin=True)
        kernel.client.get_stdin_msg(timeout=TIMEOUT)
        answer = parts(kernel, "input_reply", {"value": "first"})
        send(kernel, answer, channel="stdin")
        kernel.client.get_stdin_msg(timeout=TIMEOUT)
        send(kernel, answer, channel="stdin")
        send(kernel, parts(kernel, "input_reply", {"value": "second"}), channel="stdin")
        assert kernel.wait(msg_id).content["status"] == "ok"
        assert kernel.value("answers") == "['first', 'second']"


def test_the_terminal_hears_of_a_copy(tmp_path: Path) -> None:
    log = tmp_path / "terminal.txt"
    with launched(XleakManager, log=log) as kernel:
        kernel.client.wait_for_ready(timeout=TIMEOUT)
        message = execute(kernel)
        send(kernel, message)
        send(kernel, message)
        assert kernel.value("runs") == "1"
        assert log.read_text().count("\n") == 1
        assert "it came before" in log.read_text()
