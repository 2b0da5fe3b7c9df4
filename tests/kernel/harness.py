"""A real kernel and its client, started as Jupyter starts it."""

from __future__ import annotations

import ast
import itertools
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.localinterfaces import local_ips
from jupyter_client.manager import KernelManager

TIMEOUT = 30
# A history of its own: the user's may be large, and locked by other sessions.
_HISTORY = tempfile.TemporaryDirectory(prefix="xleak-ipython-")
IPYTHON_DIR = _HISTORY.name
# So are the records of kernels, most of which are killed here.
_RECORDS = tempfile.TemporaryDirectory(prefix="xleak-state-")
os.environ["XDG_STATE_HOME"] = _RECORDS.name
# On every processor the allocator that TensorFlow counts: by itself it takes that on some only.
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"
# A look that is due goes on to its end within the request; at rest each question would cut it off.
SETTLED = "__import__('xleak.shell.watcher').shell.watcher.watcher().idle(lambda: False)"
FINDINGS = """[
    {"key": f.key, "code": f.code, "bytes": f.bytes, "cell": f.cell, "fix": f.fixes[0].code if f.fixes else None}
    for f in __import__("xleak")._native.findings()
]"""
Message = dict[str, Any]


# The kernel's own interpreter may be another one, with another IPython.
PYTHON = os.environ.get("XLEAK_KERNEL_PYTHON", sys.executable)
TENSORFLOW_PYTHON = os.environ.get("XLEAK_TENSORFLOW_PYTHON")


# An address of this process's own: no other can take a port there between its choice and the kernel's bind.
ADDRESS = f"127.{1 + (os.getpid() >> 16) % 254}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"
# Below those that the system gives to who connects.
_PORTS = itertools.cycle(range(16_000, 32_000))


class XleakManager(KernelManager):
    """Starts ``python -m xleak.kernel``, whatever is installed in Jupyter's paths."""

    python = PYTHON

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.cache_ports = False
        if ADDRESS not in local_ips():
            # jupyter_client knows of this machine's addresses only those that its interfaces name.
            local_ips().append(ADDRESS)
        self.ip = ADDRESS
        for name in ("shell", "iopub", "stdin", "hb", "control"):
            setattr(self, f"{name}_port", next(_PORTS))

    @property
    def kernel_spec(self) -> KernelSpec:
        argv = [self.python, "-m", "xleak.kernel", "-f", "{connection_file}"]
        return KernelSpec(
            argv=argv, display_name="xleak", language="python", metadata={"debugger": True}
        )


class IpykernelManager(XleakManager):
    """Starts ipykernel, whose user has to say `%load_ext xleak`."""

    @property
    def kernel_spec(self) -> KernelSpec:
        spec = super().kernel_spec
        spec.argv = [self.python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return spec


@dataclass
class Ran:
    """What one request brought back."""

    reply: Message
    outputs: list[Message] = field(default_factory=list)

    @property
    def content(self) -> Message:
        content: Message = self.reply["content"]
        return content

    def of(self, msg_type: str) -> list[Message]:
        return [m["content"] for m in self.outputs if m["msg_type"] == msg_type]

    def text(self, name: str = "stdout") -> str:
        return "".join(m["text"] for m in self.of("stream") if m["name"] == name)

    @property
    def value(self) -> str | None:
        results = self.of("execute_result")
        return str(results[0]["data"]["text/plain"]) if results else None


class Session:
    """A kernel and its client."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The kernel's own process."""
        process: subprocess.Popen[bytes] = self.manager.provisioner.process  # type: ignore[union-attr]
        return process

    def send(self, code: str, **options: Any) -> str:
        return str(self.client.execute(code, **options))

    def wait(self, msg_id: str, timeout: float = TIMEOUT) -> Ran:
        """The reply to `msg_id` and everything published for it, up to idle."""
        deadline = time.monotonic() + timeout
        outputs: list[Message] = []
        while True:
            message = self.client.get_iopub_msg(timeout=max(0.0, deadline - time.monotonic()))
            if message["parent_header"].get("msg_id") != msg_id:
                continue
            outputs.append(message)
            if message["content"].get("execution_state") == "idle":
                break
        while True:
            reply = self.client.get_shell_msg(timeout=max(0.0, deadline - time.monotonic()))
            if reply["parent_header"].get("msg_id") == msg_id:
                return Ran(reply, outputs)

    def run(self, code: str, **options: Any) -> Ran:
        return self.wait(self.send(code, **options))

    def value(self, code: str) -> str:
        """The printed value of an expression; a cell that fails is a failure of the test."""
        ran = self.run(code)
        assert ran.content["status"] == "ok", ran.content
        assert ran.value is not None, f"{code!r} has no value"
        return ran.value

    def ask(self, expression: str) -> Any:
        """A literal value, asked for as a variable inspector asks: no cell, no name."""
        ran = self.run("", silent=True, user_expressions={"it": expression})
        return ast.literal_eval(ran.content["user_expressions"]["it"]["data"]["text/plain"])

    def settle(self) -> None:
        """Has the look end that is due, as a verdict does."""
        assert self.ask(SETTLED)

    def findings(self) -> dict[str, Any]:
        """By key, once the search has ended."""
        self.settle()
        return {found["key"]: found for found in self.ask(FINDINGS)}

    def request(
        self, msg_type: str, content: Message | None = None, channel: str = "shell"
    ) -> Message:
        """The reply to one request on `channel`."""
        message = self.client.session.msg(msg_type, content or {})
        sender = getattr(self.client, f"{channel}_channel")
        sender.send(message)
        while True:
            reply: Message = getattr(self.client, f"get_{channel}_msg")(timeout=TIMEOUT)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return reply


def kill_in_a_cell(session: Session, folder: Path) -> None:
    """Kills the kernel once a cell runs that would not end; its source ends with `while True: pass`."""
    mark = folder / "mark"
    os.mkfifo(mark)
    session.send(f"open({str(mark)!r}, 'w').write('here')\nwhile True: pass")
    assert mark.read_text() == "here"
    session.process.kill()
    session.process.wait(TIMEOUT)


def start(
    extra_env: dict[str, str] | None = None,
    python: str = PYTHON,
    kind: type[XleakManager] = XleakManager,
    **streams: int,
) -> Session:
    """streams: stdout and stderr of the kernel's, as subprocess takes them."""
    manager = kind()
    manager.python = python
    env = {**os.environ, "IPYTHONDIR": IPYTHON_DIR, **(extra_env or {})}
    manager.start_kernel(env=env, **streams)
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT)
    return Session(manager, client)


def stop(session: Session) -> None:
    session.client.stop_channels()
    if session.manager.has_kernel:
        session.manager.shutdown_kernel(now=True)
