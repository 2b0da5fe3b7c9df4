"""A front end with a panel, on a connection of its own to a running kernel."""

from __future__ import annotations

import time
import uuid
from typing import Any

from comm_schema import validator
from jupyter_client.blocking.client import BlockingKernelClient

TIMEOUT = 30
Message = dict[str, Any]


class PanelClient:
    """Opens a comm and keeps what comes; every message is checked against the schema."""

    def __init__(self, beside: BlockingKernelClient, subshell: str | None = None) -> None:
        """beside: another client of the kernel."""
        self.client = BlockingKernelClient()
        self.client.load_connection_info(beside.get_connection_info())
        # A loaded machine answers later than the second after which a kernel counts as dead.
        self.client.hb_channel.time_to_dead = TIMEOUT
        self.client.start_channels()
        self.client.wait_for_ready(timeout=TIMEOUT)
        self.comm_id = uuid.uuid4().hex
        self.iopub: list[Message] = []
        """All that was published, of others too, in its order."""
        self._subshell = subshell
        self._last_id = 0
        self.post("comm_open", {"target_name": "xleak", "data": {}})
        self.hello = self.wait_for("hello")

    def post(self, msg_type: str, content: Message, buffers: list[bytes] | None = None) -> str:
        """Sends a message of this comm as it is; its id."""
        session = self.client.session
        message = session.msg(msg_type, {"comm_id": self.comm_id, **content})
        if self._subshell is not None:
            message["header"]["subshell_id"] = self._subshell
        session.send(self.client.shell_channel.socket, message, buffers=buffers)
        return str(message["header"]["msg_id"])

    def post_data(self, data: Any, buffers: list[bytes] | None = None) -> str:
        return self.post("comm_msg", {"data": data}, buffers)

    def ask(self, kind: str, **arguments: Any) -> Message:
        """The answer to a request."""
        self._last_id += 1
        request = {"id": self._last_id, "kind": kind, **arguments}
        validator("fromFrontEnd").validate(request)
        self.post_data(request)
        deadline = time.monotonic() + TIMEOUT
        while True:
            message = self._next_of_comm(deadline)
            if message.get("request") == self._last_id and message["kind"] != "progress":
                return message

    def wait_for(self, kind: str) -> Message:
        """The next message of a kind, without asking for anything."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            message = self._next_of_comm(deadline)
            if message["kind"] == kind:
                return message

    def next_published(self) -> Message:
        """The next message of anybody."""
        return self._next(time.monotonic() + TIMEOUT)

    def told(self, passing: bool = False) -> list[Message]:
        """What has come since the last call of anything, once the kernel has served all before.

        passing: with live samples and progress, which come where the machine is slow.
        """
        asked = self.client.kernel_info()
        start = len(self.iopub)
        deadline = time.monotonic() + TIMEOUT
        while not self._is_idle_after(self._next(deadline), asked):
            pass
        # The reply that nobody reads would be the next one's.
        self.client.get_shell_msg(timeout=TIMEOUT)
        data = [it["content"]["data"] for it in self.iopub[start:] if self._is_ours(it)]
        return [it for it in data if passing or it["kind"] not in ("live", "progress")]

    def close(self) -> None:
        self.client.stop_channels()

    @staticmethod
    def _is_idle_after(message: Message, asked: str) -> bool:
        idle: bool = message["content"].get("execution_state") == "idle"
        of_it: bool = message["parent_header"].get("msg_id") == asked
        return idle and of_it

    def _is_ours(self, message: Message) -> bool:
        ours: bool = message["content"].get("comm_id") == self.comm_id
        return ours and str(message["msg_type"]) == "comm_msg"

    def _next(self, deadline: float) -> Message:
        message: Message = self.client.get_iopub_msg(timeout=max(0, deadline - time.monotonic()))
        self.iopub.append(message)
        if self._is_ours(message):
            validator("fromKernel").validate(message["content"]["data"])
        return message

    def _next_of_comm(self, deadline: float) -> Message:
        while not self._is_ours(message := self._next(deadline)):
            pass
        data: Message = message["content"]["data"]
        return data
