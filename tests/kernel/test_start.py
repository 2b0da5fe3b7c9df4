"""What is loaded before the first reply, and how subscribers of iopub are welcomed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zmq
from harness import PYTHON, TIMEOUT, Message, Session, XleakManager, stop
from jupyter_client.connect import write_connection_file
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.session import Session as Wire

pytestmark = pytest.mark.each_ipython


class Listener:
    """A front end that does nothing but listen on iopub."""

    def __init__(self, kernel: Session, socket: zmq.Socket[bytes]) -> None:
        self._wire = Wire(key=kernel.client.session.key)
        self.socket = socket

    def subscribe(self, topic: bytes) -> None:
        self.socket.subscribe(topic)

    def next(self) -> tuple[list[bytes], Message]:
        """(topic, message)"""
        assert self.socket.poll(TIMEOUT * 1000), "nothing came"
        topics, frames = self._wire.feed_identities(self.socket.recv_multipart())
        message: Message = self._wire.deserialize(frames)
        return topics, message


@contextmanager
def listening(kernel: Session, *topics: bytes) -> Iterator[Listener]:
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.linger = 0
        listener = Listener(kernel, socket)
        for topic in topics:
            listener.subscribe(topic)
        socket.connect(kernel.client._make_url("iopub"))
        yield listener


def test_a_client_of_an_idle_kernel_is_welcomed_before_anything_else(kernel: Session) -> None:
    with listening(kernel, b"") as listener:
        topics, message = listener.next()
        assert message["msg_type"] == message["header"]["msg_type"] == "iopub_welcome"
        assert message["content"] == {"subscription": ""}
        assert (message["parent_header"], message["metadata"], topics) == ({}, {}, [b""])
        kernel.run("1")
        assert listener.next()[1]["content"] == {"execution_state": "busy"}


def test_each_front_end_is_welcomed_and_the_first_hears_of_the_second(kernel: Session) -> None:
    with listening(kernel, b"") as first:
        first.next()
        with listening(kernel, b"") as second:
            assert second.next()[1]["msg_type"] == "iopub_welcome"
        assert first.next()[1]["msg_type"] == "iopub_welcome"


@pytest.mark.parametrize(
    "waiting",
    ["while not done.exists(): time.sleep(0.001)", "while not done.exists(): pass"],
    ids=["asleep", "at work"],
)
def test_a_client_that_subscribes_while_a_cell_runs_is_welcomed_at_once(
    kernel: Session, tmp_path: Path, waiting: str
) -> None:
    done = tmp_path / "done"
    msg_id = kernel.send(
        f"import time, pathlib; done = pathlib.Path({str(done)!r})\nprint('runs', flush=True)\n{waiting}"
    )
    while kernel.client.get_iopub_msg(timeout=TIMEOUT)["msg_type"] != "stream":
        pass
    with listening(kernel, b"") as listener:
        assert listener.next()[1]["msg_type"] == "iopub_welcome"
        done.touch()
        assert listener.next()[1]["parent_header"]["msg_id"] == msg_id
    kernel.wait(msg_id)


def test_a_client_that_subscribes_while_a_cell_prints_is_welcomed(
    kernel: Session, tmp_path: Path
) -> None:
    done = tmp_path / "done"
    msg_id = kernel.send(
        f"import pathlib; done = pathlib.Path({str(done)!r})\n"
        "while not done.exists(): print('.', flush=True)"
    )
    while kernel.client.get_iopub_msg(timeout=TIMEOUT)["msg_type"] != "stream":
        pass
    with listening(kernel, b"") as listener:
        while listener.next()[1]["msg_type"] != "iopub_welcome":
            pass
    done.touch()
    kernel.wait(msg_id)


def test_a_welcome_goes_to_its_topic_alone(kernel: Session) -> None:
    with listening(kernel, "größe".encode(), b"\xff") as listener:
        topics, message = listener.next()
        assert message["content"] == {"subscription": "größe"}
        assert topics == ["größe".encode()]
        with listening(kernel, b"other") as other:
            assert other.next()[1]["content"] == {"subscription": "other"}
        listener.subscribe(b"last")
        # Neither the welcome of the other nor one for what is no text.
        assert listener.next()[1]["content"] == {"subscription": "last"}


# --- before the first reply ------------------------------------------------------------------

BEFORE_THE_LOOP = """
import pathlib, sys
from xleak import _kernel
from xleak.kernel.__main__ import main

imported = pathlib.Path(sys.argv.pop())
_kernel.run = lambda: imported.write_text("\\n".join(sys.modules))
main()
"""
IPYTHON_ALONE = """
import pathlib, sys
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.instance()
pathlib.Path(sys.argv.pop()).write_text("\\n".join(sys.modules))
"""
# Large modules, and those that no request needs yet.
LATER = {
    "_ssl",
    "debugpy",
    "email.message",
    "importlib.metadata",
    "ipykernel",
    "jedi",
    "jupyter_client",
    "matplotlib",
    "numpy",
    "psutil",
    "torch",
    "tornado",
    "xleak.agent",
    "xleak.flight",
    "xleak.magics.leakcheck",
    "xleak.panel",
    "xleak.shell.holders",
    "xleak.shell.install",
    "xleak.shell.watcher",
    "xleak.verdict",
    "zmq",
}


def imported_by(code: str, *arguments: str, folder: Path) -> set[str]:
    names = folder / "modules"
    subprocess.run(
        [PYTHON, "-c", code, *arguments, str(names)],
        env={**os.environ, "IPYTHONDIR": str(folder)},
        timeout=TIMEOUT,
        check=True,
    )
    return set(names.read_text().split())


def test_a_kernel_that_starts_imports_nothing_that_can_wait_for_the_first_reply(
    tmp_path: Path,
) -> None:
    path, _ = write_connection_file(str(tmp_path / "connection.json"))
    imported = imported_by(BEFORE_THE_LOOP, "-f", path, folder=tmp_path)
    assert "xleak.kernel.shell" in imported
    # Older IPythons need some of it for themselves.
    assert not LATER & (imported - imported_by(IPYTHON_ALONE, folder=tmp_path))


TLS = """
import asyncio, ssl
assert isinstance(ssl.create_default_context(), ssl.SSLContext)
assert asyncio.sslproto.SSLProtocol.__module__ == "asyncio.sslproto"
assert asyncio.base_events.ssl is ssl
names = ascii([sorted(vars(ssl)), sorted(vars(asyncio.sslproto))])
"""


TLS_IN_THREADS = """
import asyncio, ssl, threading
barrier, found = threading.Barrier(8), []
def use():
    barrier.wait()
    found.append(hasattr(ssl, "create_default_context"))
threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
found
"""


def test_threads_that_use_tls_first_at_the_same_time_all_have_it(fresh_kernel: Session) -> None:
    assert fresh_kernel.value(TLS_IN_THREADS) == str([True] * 8)


def test_tls_is_loaded_on_first_use_and_then_works_as_usual(
    fresh_kernel: Session,
) -> None:
    assert fresh_kernel.ask("'_ssl' in __import__('sys').modules") is False
    plain = subprocess.run(
        [PYTHON, "-c", TLS + "print(names)"], capture_output=True, text=True, check=True
    )
    assert fresh_kernel.run(TLS + "print(names)").text() == plain.stdout


LOADED = "xleak.shell.install"
IN_STEPS = f"""
import json, sys
from xleak.shell.loading import load

finders = list(sys.meta_path)
counts, asked = [], 0

def request_waits():
    global asked
    asked += 1
    return asked % 20 == 0

while not load({LOADED!r}, request_waits):
    counts.append(len(sys.modules))
print(json.dumps([counts, {LOADED!r} in sys.modules, sys.meta_path == finders]))
"""


def test_a_request_cuts_the_loading_short_between_two_modules_and_what_is_loaded_stays() -> None:
    ran = subprocess.run(
        [PYTHON, "-c", IN_STEPS], capture_output=True, text=True, timeout=TIMEOUT, check=True
    )
    counts, loaded, clean = json.loads(ran.stdout)
    assert len(counts) > 3
    assert counts == sorted(counts)
    assert loaded and clean


# --- whoever asks first ------------------------------------------------------------------------


def test_the_magics_are_there_for_the_first_completion(fresh_kernel: Session) -> None:
    content = {"code": "%leakch", "cursor_pos": 7}
    reply = fresh_kernel.request("complete_request", content)["content"]
    assert "%leakcheck" in reply["matches"]


def test_the_magics_are_there_for_the_users_start_up_files(
    start_kernel: Callable[..., Session], tmp_path: Path
) -> None:
    startup = tmp_path / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("get_ipython().run_line_magic('xleak', 'policy off')")
    (startup / "01.ipy").write_text("%xleak policy")
    kernel = start_kernel(IPYTHONDIR=str(tmp_path))
    assert kernel.ask("__import__('xleak')._native.enabled()") is False
    assert kernel.ask("'xleak.magics.xleak_magic' in __import__('sys').modules") is True


def test_an_extension_of_the_users_finds_xleak_in_place(
    start_kernel: Callable[..., Session], tmp_path: Path
) -> None:
    profile = tmp_path / "profile_default"
    profile.mkdir()
    config = "c = get_config()\nc.InteractiveShellApp.extensions = ['xleak']\n"
    (profile / "ipython_config.py").write_text(config)
    kernel = start_kernel(IPYTHONDIR=str(tmp_path))
    kernel.run("x = 1")
    # Once: by the kernel, and not by IPython's events as well.
    assert kernel.ask("len(__import__('xleak')._native.records())") == 1


def test_cells_that_keep_nothing_start_no_search_and_what_searches_is_not_loaded(
    fresh_kernel: Session,
) -> None:
    is_loaded = "'xleak.shell.holders.reporters' in __import__('sys').modules"
    for cell in ("x = 1", "import math\nmath.sqrt(x)"):
        fresh_kernel.run(cell)
        fresh_kernel.settle()
        assert fresh_kernel.ask(is_loaded) is False
    fresh_kernel.run("x = bytearray(4 << 20)")
    fresh_kernel.settle()
    assert fresh_kernel.ask(is_loaded) is True


# --- while IPython is imported ------------------------------------------------------------------

SLOW_IMPORT = """
import pathlib, sys, time
from xleak.kernel.__main__ import main

gate = pathlib.Path(sys.argv.pop())

class Slow:
    def find_spec(self, name, path=None, target=None):
        while name.startswith("IPython.") and not gate.exists():
            time.sleep(0.001)

sys.meta_path.insert(0, Slow())
main()
"""


class SlowManager(XleakManager):
    """A kernel that comes to import IPython and no further before its file `gate` is there."""

    gate = ""

    @property
    def kernel_spec(self) -> KernelSpec:
        spec = super().kernel_spec
        spec.argv = [self.python, "-c", SLOW_IMPORT, "-f", "{connection_file}", self.gate]
        return spec


@pytest.fixture
def slow_start(tmp_path: Path) -> Iterator[tuple[Session, Path]]:
    manager = SlowManager()
    manager.gate = str(tmp_path / "gate")
    manager.start_kernel(env={**os.environ, "IPYTHONDIR": str(tmp_path)})
    client = manager.client()
    client.start_channels()
    session = Session(manager, client)
    yield session, tmp_path / "gate"
    stop(session)


def test_a_kernel_says_what_it_is_before_ipython_is_imported_and_the_same_afterwards(
    slow_start: tuple[Session, Path],
) -> None:
    kernel, gate = slow_start
    assert kernel.client.get_iopub_msg(timeout=TIMEOUT)["msg_type"] == "iopub_welcome"
    infos = [
        kernel.request("kernel_info_request"),
        kernel.request("kernel_info_request", channel="control"),
    ]
    early = infos[0]["content"]
    assert [info["content"] for info in infos] == [early] * 2
    states = [kernel.client.get_iopub_msg(timeout=TIMEOUT) for _ in range(4)]
    assert [it["content"]["execution_state"] for it in states] == ["busy", "idle"] * 2
    assert states[0]["parent_header"]["msg_id"] == infos[0]["parent_header"]["msg_id"]
    gate.touch()
    kernel.run("1")
    late = kernel.request("kernel_info_request")["content"]
    # IPython ends its banner with a tip.
    assert late.pop("banner").startswith(early.pop("banner"))
    assert late == early


def test_what_is_asked_before_ipython_is_imported_is_served_afterwards_in_its_order(
    slow_start: tuple[Session, Path],
) -> None:
    kernel, gate = slow_start
    kernel.request("kernel_info_request")
    sent = [kernel.send("first = 1"), kernel.send("first + 1")]
    content = {"code": "fir", "cursor_pos": 3}
    completion = kernel.client.session.msg("complete_request", content)
    kernel.client.shell_channel.send(completion)
    sent += [completion["header"]["msg_id"], kernel.client.kernel_info()]
    usage = kernel.client.session.msg("usage_request", {})
    kernel.client.control_channel.send(usage)
    gate.touch()
    replies = [kernel.client.get_shell_msg(timeout=TIMEOUT) for _ in sent]
    assert [it["parent_header"]["msg_id"] for it in replies] == sent
    assert [it["content"]["status"] for it in replies] == ["ok"] * 4
    assert replies[2]["content"]["matches"] == ["first"]
    reply = kernel.client.get_control_msg(timeout=TIMEOUT)
    assert reply["parent_header"]["msg_id"] == usage["header"]["msg_id"]


def test_what_waits_behind_a_failed_first_cell_is_aborted(slow_start: tuple[Session, Path]) -> None:
    kernel, gate = slow_start
    kernel.request("kernel_info_request")
    failed, aborted = kernel.send("1/0"), kernel.send("x = 1")
    gate.touch()
    replies = [kernel.client.get_shell_msg(timeout=TIMEOUT) for _ in range(2)]
    assert [it["parent_header"]["msg_id"] for it in replies] == [failed, aborted]
    assert [it["content"]["status"] for it in replies] == ["error", "aborted"]


def test_a_kernel_that_ends_before_its_shell_is_made_ends_at_once(tmp_path: Path) -> None:
    path, _ = write_connection_file(str(tmp_path / "connection.json"))
    broken = (
        "import sys; sys.modules['IPython'] = None\nfrom xleak.kernel.__main__ import main; main()"
    )
    ran = subprocess.run(
        [PYTHON, "-c", broken, "-f", path], capture_output=True, text=True, timeout=TIMEOUT
    )
    assert (ran.returncode, "IPython" in ran.stderr) == (1, True)
