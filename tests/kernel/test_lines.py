"""The line that a cell with a new finding gets: when it comes, and where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import IpykernelManager, Message, Ran, Session, start, stop

pytestmark = pytest.mark.each_ipython

MIB = 1 << 20
LOOKS = """__import__('builtins').__dict__.setdefault('looks', []), [
    (setattr(module, 'take_snapshot', lambda *a, taken=module.take_snapshot: looks.append(1) or taken(*a)))
    for module in [__import__('xleak.shell.holders.search').shell.holders.search]
]"""
STATE = """(
    sorted(In), sorted(Out), [str(globals().get(name)) for name in ('_', '__', '___')],
    get_ipython().execution_count, len(get_ipython().history_manager.input_hist_raw),
    [str(getattr(__import__('sys'), name, None)) for name in ('last_type', 'last_value')],
    id(getattr(__import__('sys'), 'last_traceback', None)),
)"""


class FrontEnd:
    """One that sends what JupyterLab sends with a cell, and hears what comes after its idle."""

    def __init__(self, kernel: Session) -> None:
        self.kernel = kernel
        self.heard: list[Message] = []

    def send(
        self, cell_id: str, code: str, *, deleted: tuple[str, ...] = (), **options: Any
    ) -> str:
        session = self.kernel.client.session
        session.metadata = {
            "cellId": cell_id,
            "deletedCells": list(deleted),
            "recordTiming": False,
        }
        sent = self.kernel.send(code, **options)
        session.metadata = {}
        return sent

    def run(self, cell_id: str, code: str, **options: Any) -> str:
        """Runs a cell; its message id."""
        sent = self.send(cell_id, code, **options)
        self.wait_for_idle(sent)
        self.wait_for_reply(sent)
        return sent

    def wait_for_reply(self, sent: str) -> None:
        while self.kernel.client.get_shell_msg(timeout=60)["parent_header"]["msg_id"] != sent:
            pass

    def wait_for_idle(self, sent: str) -> None:
        self.wait_for(lambda it: it[0] == sent and it[2] == "idle")

    def wait_for(self, is_it: Callable[[tuple[str, str, str]], bool]) -> str:
        """The text of the first message whose (parent's id, type, text or state) is_it accepts."""
        while True:
            message = self.kernel.client.get_iopub_msg(timeout=60)
            self.heard.append(message)
            if is_it(told := summary(message)):
                return told[2]

    def line(self, sent: str, kind: str = "display_data") -> str:
        """The next line that comes for the cell of that message."""
        return self.wait_for(lambda it: it[:2] == (sent, kind) and "xleak" in it[2])

    def lines(self) -> list[tuple[str, str]]:
        """(id of its request, type) of all that was heard."""
        told = [summary(message) for message in self.heard]
        return [it[:2] for it in told if it[1].endswith("display_data") and "xleak" in it[2]]


def summary(message: Message) -> tuple[str, str, str]:
    content = message["content"]
    text = content.get("execution_state") or content.get("data", {}).get("text/plain", "")
    return message["parent_header"].get("msg_id", ""), message["msg_type"], text


@pytest.fixture(params=["xleak", "ipykernel"])
def kernel(request: pytest.FixtureRequest) -> Iterator[Session]:
    """Kernels that show a line from 1 MiB on."""
    env = {"XLEAK_NOTICE_BYTES": str(MIB)}
    if request.param == "xleak":
        session = start(env)
    else:
        session = start(env, kind=IpykernelManager)
        session.run("%load_ext xleak")
    yield session
    stop(session)


@pytest.fixture
def front(kernel: Session) -> FrontEnd:
    return FrontEnd(kernel)


def leak(front: FrontEnd, name: str, mib: int = 4) -> str:
    """Leaks an output entry; the message id of the cell that does."""
    front.run(f"{name}-shows", f"{name} = bytearray({mib * MIB})\nmemoryview({name})")
    return front.run(f"{name}-deletes", f"del {name}")


def test_each_cell_with_a_new_finding_has_a_line_of_its_own_after_its_idle(
    front: FrontEnd,
) -> None:
    first = leak(front, "first")
    assert "4 MiB" in front.line(first)
    second = leak(front, "second", 8)
    assert "8 MiB" in front.line(second)
    front.run("third", "print('the next')")
    assert front.lines() == [(first, "display_data"), (second, "display_data")]
    idle = [summary(it) for it in front.heard].index((first, "status", "idle"))
    line = next(at for at, it in enumerate(front.heard) if "xleak" in summary(it)[2])
    assert line > idle


def test_the_line_of_a_cell_says_that_its_finding_was_released_and_no_other_changes(
    front: FrontEnd,
) -> None:
    first = leak(front, "first")
    entry = front.line(first).split("`%xdel ")[1].split("`")[0]
    front.line(leak(front, "second"))
    front.run("repair", f"%xdel {entry}")
    front.run("next", "1;")
    updates = [it for it in front.lines() if it[1] == "update_display_data"]
    assert updates == [(first, "update_display_data")]
    assert (
        "has been released"
        in summary(front.heard[[summary(it)[:2] for it in front.heard].index(updates[0])])[2]
    )


def ask(kernel: Session, expression: str) -> str:
    ran = kernel.run("", store_history=False, user_expressions={"it": expression})
    return str(ran.content["user_expressions"]["it"]["data"]["text/plain"])


def plain_leak(kernel: Session) -> Ran:
    kernel.run(f"value = bytearray({4 * MIB})\nmemoryview(value)")
    return kernel.run("del value")


def texts(ran: Ran) -> list[str]:
    return [it["data"]["text/plain"] for it in ran.of("display_data")]


def test_a_client_that_reads_no_further_has_the_line_on_top_of_its_next_cell(
    kernel: Session,
) -> None:
    assert texts(plain_leak(kernel)) == []
    kernel.settle()
    following = kernel.run("print('printed')")
    assert "XL401" in texts(following)[0]
    kinds = [it["msg_type"] for it in following.outputs]
    assert kinds.index("display_data") < kinds.index("stream")
    assert texts(kernel.run("print('printed')")) == []


def test_no_walk_of_the_heap_comes_before_a_reply(kernel: Session, tmp_path: Path) -> None:
    ask(kernel, LOOKS)
    kernel.run("import os, time; failing = lambda: 1 / 0")
    kernel.settle()
    go, before = tmp_path / "go", ask(kernel, "len(looks)")
    holding = kernel.send(f"while not os.path.exists({str(go)!r}): time.sleep(0.01)")
    failing = kernel.send(f"value = bytearray({4 * MIB}); failing()", stop_on_error=False)
    counting = kernel.send("len(looks)")
    go.touch()
    for sent in (holding, failing):
        kernel.wait(sent)
    assert kernel.wait(counting).value == before
    kernel.settle()
    assert int(ask(kernel, "len(looks)")) > int(before)


def test_a_line_after_idle_leaves_all_that_a_cell_could_see_as_it_was(front: FrontEnd) -> None:
    kernel = front.kernel
    kernel.run("1 / 0")
    front.run("shows", f"value = bytearray({4 * MIB})\nmemoryview(value)")
    sent = front.send("deletes", "del value")
    front.wait_for_idle(sent)
    front.wait_for_reply(sent)
    before = ask(kernel, STATE)
    kernel.settle()
    assert ask(kernel, STATE) == before
    kernel.run("None")


def test_the_verdict_ends_the_look_that_is_due(kernel: Session) -> None:
    plain_leak(kernel)
    verdict = "__import__('xleak.verdict').verdict.session_verdict()"
    assert ask(kernel, f"[it.code for it in {verdict}.findings]") == "['XL401']"
