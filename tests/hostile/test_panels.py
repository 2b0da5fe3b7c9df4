"""Panels that come and go by the thousand, and what they ask for while threads change the heap."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from harness import TIMEOUT, Message, Session
from panel_client import PanelClient

MIB = 1 << 20
MANAGER = "get_ipython().kernel.comm_manager"
# As many as the kernel keeps.
MOST = 16

_ids = itertools.count()


class Front:
    """A panel that sends by the session's own connection, and reads nothing."""

    def __init__(self, session: Session) -> None:
        self.comm_id = f"front {next(_ids)}"
        self._session = session
        self._request = itertools.count(1)
        self._post("comm_open", target_name="xleak")
        self.ask("subscribe")

    def ask(self, kind: str) -> None:
        self._post("comm_msg", data={"id": next(self._request), "kind": kind})

    def close(self) -> None:
        self._post("comm_close")

    def _post(self, msg_type: str, **content: Any) -> None:
        session = self._session.client.session
        whole = {"comm_id": self.comm_id, "data": {}, **content}
        session.send(self._session.client.shell_channel.socket, session.msg(msg_type, whole))


def published(session: Session, msg_id: str) -> dict[str, list[Message]]:
    """What was published up to the end of a request, by comm."""
    by_comm: dict[str, list[Message]] = {}
    while True:
        message = session.client.get_iopub_msg(timeout=TIMEOUT)
        if message["msg_type"].startswith("comm_"):
            by_comm.setdefault(message["content"]["comm_id"], []).append(message)
        is_ours = message["parent_header"].get("msg_id") == msg_id
        if is_ours and message["content"].get("execution_state") == "idle":
            return by_comm


def published_of_cell(session: Session, source: str) -> dict[str, list[Message]]:
    """The same of a cell, with what follows its reply and comes before another request is served."""
    by_comm = published(session, session.send(source))
    for comm_id, messages in published(session, session.client.kernel_info()).items():
        by_comm.setdefault(comm_id, []).extend(messages)
    return by_comm


def sizes(session: Session) -> tuple[int, int]:
    """(resident bytes, threads) of a kernel that is at rest."""
    session.settle()
    process = psutil.Process(session.process.pid)
    return process.memory_info().rss, process.num_threads()


def come_and_go(session: Session, times: int, closes: bool) -> None:
    for _ in range(times):
        front = Front(session)
        front.ask("findings")
        if closes:
            front.close()
        published(session, session.client.kernel_info())
        session.client.get_shell_msg(timeout=TIMEOUT)


@pytest.mark.slow
@pytest.mark.parametrize("closes", [True, False], ids=["closed", "left behind"])
def test_panels_that_come_and_go_leave_neither_memory_nor_threads(
    fresh_kernel: Session, closes: bool
) -> None:
    fresh_kernel.run(f"value = bytearray({8 * MIB})\nmemoryview(value)")
    fresh_kernel.run("del value")
    come_and_go(fresh_kernel, 300, closes)
    before = sizes(fresh_kernel)
    come_and_go(fresh_kernel, 1000, closes)
    after = sizes(fresh_kernel)
    assert after[1] == before[1]
    assert after[0] - before[0] < 2 * MIB
    assert fresh_kernel.ask(f"len({MANAGER}.comms)") == (0 if closes else MOST)


def test_all_panels_are_told_the_same_and_those_that_are_too_many_are_closed(
    fresh_kernel: Session,
) -> None:
    fronts = [Front(fresh_kernel) for _ in range(3 * MOST)]
    by_comm = published_of_cell(fresh_kernel, "1")
    kinds = {
        front.comm_id: Counter(
            it["content"]["data"].get("kind", it["msg_type"]) for it in by_comm[front.comm_id]
        )
        for front in fronts
    }
    for front in fronts[:-MOST]:
        assert (kinds[front.comm_id]["comm_close"], kinds[front.comm_id]["cell"]) == (1, 0)
    for front in fronts[-MOST:]:
        assert (kinds[front.comm_id]["comm_close"], kinds[front.comm_id]["cell"]) == (0, 1)


RUNS_UNTIL = """
import pathlib
value = bytearray(1 << 23)
memoryview(value)
while not pathlib.Path(DONE).exists(): pass
"""


def next_of_a_comm(session: Session) -> dict[str, Message]:
    """The next message of a comm, by its comm."""
    while True:
        message = session.client.get_iopub_msg(timeout=TIMEOUT)
        if message["msg_type"] == "comm_msg":
            return {message["content"]["comm_id"]: message}


def kinds_of(by_comm: dict[str, Message]) -> list[str]:
    return [message["content"]["data"].get("kind", "") for message in by_comm.values()]


def test_nothing_is_sent_to_a_panel_that_was_closed(fresh_kernel: Session, tmp_path: Path) -> None:
    gone, here = Front(fresh_kernel), Front(fresh_kernel)
    gone.close()
    published_of_cell(fresh_kernel, "1")
    done = tmp_path / "done"
    running = fresh_kernel.send(RUNS_UNTIL.replace("DONE", repr(str(done))))
    # Of a cell that runs a panel hears by itself.
    while "live" not in kinds_of(heard := next_of_a_comm(fresh_kernel)):
        assert gone.comm_id not in heard
    done.touch()
    assert gone.comm_id not in published(fresh_kernel, running)
    fresh_kernel.run("del value")
    fresh_kernel.settle()
    by_comm = published_of_cell(fresh_kernel, "%xleak policy report")
    assert gone.comm_id not in by_comm
    assert by_comm[here.comm_id]


CHANGING = """
import collections, threading
shared = {"dict": {}, "list": [], "set": set(), "deque": collections.deque(maxlen=500)}
stopped = threading.Event()
class Node: pass
def change(number):
    count = 0
    while not stopped.is_set():
        count += 1
        if count % 50 == 0: stopped.wait(0.001)
        key = (number, count % 997)
        shared["dict"][key] = Node()
        shared["dict"].pop((number, count * 7 % 997), None)
        shared["set"].add(key)
        shared["set"].discard((number, count * 3 % 997))
        shared["list"].append([key])
        if count % 499 == 0: del shared["list"][:]
        shared["deque"].append(key)
        globals()[f"made_{number}_{count % 50}"] = bytearray(2000)
        globals().pop(f"made_{number}_{count * 3 % 50}", None)
        vars(Node).get("x"); setattr(Node, f"x{count % 60}", key)
threads = [threading.Thread(target=change, args=(number,), daemon=True) for number in range(4)]
for thread in threads: thread.start()
"""


@pytest.fixture
def changing_kernel(fresh_kernel: Session) -> Iterator[Session]:
    """Its heap changes all the time."""
    assert fresh_kernel.run(CHANGING).content["status"] == "ok"
    yield fresh_kernel
    fresh_kernel.run("stopped.set()\nfor thread in threads: thread.join()")


@pytest.mark.slow
def test_repairs_that_are_pressed_while_the_heap_changes_are_made_or_refused_with_a_reason(
    changing_kernel: Session,
) -> None:
    kernel = changing_kernel
    answers: list[Message] = []
    for _ in range(5):
        panel = PanelClient(kernel.client)
        assert panel.ask("subscribe")["kind"] == "session"
        kernel.run(f"value = bytearray({8 * MIB})\nmemoryview(value)")
        kernel.run("del value\n1 / 0")
        for finding in panel.ask("findings")["added"]:
            answers.append(panel.ask("run_fix", finding=finding["id"], fix=0))
        kernel.run(f"target = bytearray({8 * MIB}); kept = [target]")
        answers += [
            panel.ask("names"),
            panel.ask("path", name="shared"),
            panel.ask("xdel", name="target", dry_run=True),
            panel.ask("xdel", name="target", dry_run=False),
            panel.ask("release_cache", dry_run=True),
            panel.ask("release_cache", dry_run=False),
        ]
        panel.post("comm_close", {"data": {}})
        panel.close()
    wrong = [it for it in answers if it["kind"] == "error" and "This failed" in it["message"]]
    assert not wrong
    assert Counter(it["kind"] for it in answers)["names"] == 5
    assert kernel.value("all(thread.is_alive() for thread in threads)") == "True"
