"""Kernels side by side, and one client for all of them, so that only the kernel differs."""

import os
import random
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import zmq
from jupyter_client.connect import write_connection_file
from jupyter_client.session import Session

REPLY_TIMEOUT_SECONDS = 60
PORT_RANGE = (16_000, 32_000)
_handed_out: set[int] = set()


@dataclass(frozen=True)
class Side:
    """A kernel to measure, named by what starts it."""

    name: str
    module: str
    environment: Mapping[str, str] = field(default_factory=dict)
    has_panel: bool = False


WATCHED = Side("xleak", "xleak.kernel")
WATCHED_WITH_PANEL = Side("xleak with a panel", "xleak.kernel", has_panel=True)
UNWATCHED = Side("xleak unwatched", "xleak.kernel", {"XLEAK_DISABLE": "1"})
IPYKERNEL = Side("ipykernel", "ipykernel_launcher")


class Client:
    """Speaks to one kernel over plain sockets: no threads and no event loop in what is timed."""

    def __init__(self, process: "subprocess.Popen[bytes]", connection: Mapping[str, Any]) -> None:
        self.process = process
        self._session = Session(key=connection["key"].encode())
        self._context = zmq.Context()
        self._shell = self._connect(zmq.DEALER, connection, "shell_port")
        self._control = self._connect(zmq.DEALER, connection, "control_port")
        self._iopub = self._connect(zmq.SUB, connection, "iopub_port")
        self._iopub.subscribe(b"")

    def _connect(self, kind: int, connection: Mapping[str, Any], port: str) -> "zmq.Socket[bytes]":
        socket = self._context.socket(kind)
        # The default, 100 ms, would round the time that a kernel takes to start.
        socket.reconnect_ivl = 2
        socket.linger = 0
        socket.connect(f"tcp://{connection['ip']}:{connection[port]}")
        return socket

    def _receive(self, socket: "zmq.Socket[bytes]") -> dict[str, Any]:
        if not socket.poll(REPLY_TIMEOUT_SECONDS * 1000):
            raise TimeoutError(f"the kernel gave no answer within {REPLY_TIMEOUT_SECONDS} s")
        _, frames = self._session.feed_identities(socket.recv_multipart())
        message: dict[str, Any] = self._session.deserialize(frames)
        return message

    def _reply_to(self, socket: "zmq.Socket[bytes]", message_id: str) -> dict[str, Any]:
        while True:
            message = self._receive(socket)
            if message["parent_header"].get("msg_id") == message_id:
                return message

    def _send(self, socket: "zmq.Socket[bytes]", kind: str, content: dict[str, Any]) -> str:
        message = self._session.msg(kind, content)
        self._session.send(socket, message)
        message_id: str = message["header"]["msg_id"]
        return message_id

    def kernel_info(self) -> None:
        """Returns when the kernel has said what it is."""
        sent = self._send(self._shell, "kernel_info_request", {})
        self._reply_to(self._shell, sent)

    def subscribed(self) -> None:
        """Returns when output arrives here too; what is published before that is lost."""
        while True:
            self.kernel_info()
            if self._iopub.poll(50):
                return

    def open_panel(self) -> None:
        """Returns when the kernel has told a panel all that it knows."""
        comm = {"comm_id": secrets.token_hex(16)}
        self._send(self._shell, "comm_open", {**comm, "target_name": "xleak", "data": {}})
        subscribe = {**comm, "data": {"id": 1, "kind": "subscribe"}}
        sent = self._send(self._shell, "comm_msg", subscribe)
        while self._reply_to(self._iopub, sent)["content"].get("data", {}).get("kind") != "session":
            pass

    def execute(self, code: str, status: str = "ok") -> float:
        """Runs a cell that ends so, and returns the seconds until its reply and its idle were both here."""
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        begun = time.perf_counter()
        sent = self._send(self._shell, "execute_request", content)
        reply = self._reply_to(self._shell, sent)
        while self._reply_to(self._iopub, sent)["content"].get("execution_state") != "idle":
            pass
        seconds = time.perf_counter() - begun
        if reply["content"]["status"] != status:
            raise RuntimeError(f"the cell did not end so: {reply['content'].get('evalue')}")
        return seconds

    def close(self) -> None:
        self._send(self._control, "shutdown_request", {"restart": False})
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._context.destroy(linger=0)


def free_ports(count: int) -> list[int]:
    """Below those that the system gives to who connects: a client that asks every 2 ms for a port which
    nobody has yet sooner or later gets it as its own, and talks to itself. None is handed out twice: the kernel
    that got it may not have taken it yet."""
    ports: list[int] = []
    while len(ports) < count:
        port = random.choice([it for it in range(*PORT_RANGE) if it not in _handed_out])
        _handed_out.add(port)
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            ports.append(port)
    return ports


@contextmanager
def started(side: Side) -> Iterator[Client]:
    """Starts the kernel and gives a client at once, before the kernel answers."""
    with TemporaryDirectory() as folder:
        file = str(Path(folder) / "connection.json")
        shell, iopub, stdin, control, heartbeat = free_ports(5)
        path, connection = write_connection_file(
            file,
            shell_port=shell,
            iopub_port=iopub,
            stdin_port=stdin,
            control_port=control,
            hb_port=heartbeat,
            key=secrets.token_hex(16).encode(),
        )
        own = {"IPYTHONDIR": folder, "XDG_STATE_HOME": folder}
        environment = {**os.environ, **side.environment, **own}
        process = subprocess.Popen(
            [sys.executable, "-m", side.module, "-f", path],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        client = Client(process, connection)
        try:
            yield client
        finally:
            client.close()
