"""The agent under `%load_ext xleak`, where ipykernel's loop runs between the cells."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest
from harness import TIMEOUT, Message, Session, XleakManager, stop

MIB = 1 << 20
LARGE = f"memoryview(bytearray({8 * MIB}))"
# What malloc and torch's census of tensors say that is in use.
MALLOC = "__import__('xleak')._native.heap().used_bytes"
TENSORS = (
    "sum(it.bytes for it in {row.storage.key: row.storage for row in _torch.census()}.values())"
)
JOURNAL = """[(it.what, it.freed.get("malloc", 0)) for it in
__import__("xleak.shell.watcher").shell.watcher.watcher().journal.entries]"""


class IpykernelManager(XleakManager):
    """Starts ipykernel."""

    @property
    def kernel_spec(self) -> Any:
        spec = super().kernel_spec
        spec.argv = [self.python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return spec


class Ipykernel(Session):
    """ipykernel takes no expressions in silent requests."""

    def ask(self, expression: str) -> Any:
        request: Message = {"it": expression}
        ran = self.run("", store_history=False, user_expressions=request)
        return eval(ran.content["user_expressions"]["it"]["data"]["text/plain"], {})


@pytest.fixture
def ipykernel() -> Iterator[Session]:
    manager = IpykernelManager()
    manager.start_kernel(env=dict(os.environ))
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT)
    session = Ipykernel(manager, client)
    session.run("%load_ext xleak")
    session.run("%xleak policy auto XL401")
    yield session
    stop(session)


def entries(kernel: Session) -> list[int]:
    return [n for n in kernel.ask("list(get_ipython().user_ns['_oh'])") if type(n) is int]


def shown(kernel: Session, value: str) -> int:
    """The number of the entry of what a cell shows."""
    return int(kernel.run(value).content["execution_count"])


def wait_until_gone(kernel: Session, number: int) -> None:
    deadline, pause = time.monotonic() + TIMEOUT, 0.3
    while number in entries(kernel):
        assert time.monotonic() < deadline, "nothing was released"
        kernel.run("x = 1")
        time.sleep(pause)
        pause *= 2


def test_an_entry_that_nobody_names_goes_and_malloc_has_its_bytes_back(ipykernel: Session) -> None:
    number = shown(ipykernel, LARGE)
    before = ipykernel.ask(MALLOC)
    for cell in ("'a'", "'b'", "'c'"):
        ipykernel.run(cell)
    wait_until_gone(ipykernel, number)
    assert abs(before - ipykernel.ask(MALLOC) - 8 * MIB) < MIB
    [(what, freed)] = ipykernel.ask(JOURNAL)
    assert what == f"Out[{number}]"
    assert abs(freed - 8 * MIB) < MIB


def test_the_last_three_and_what_any_cell_mentions_stay(ipykernel: Session) -> None:
    mentioned = shown(ipykernel, LARGE)
    ipykernel.run(f"def later(): return Out[{mentioned}]")
    by_name = shown(ipykernel, LARGE)
    ipykernel.run(f"later_by_name = '_{by_name}'")
    orphan = shown(ipykernel, LARGE)
    last = [shown(ipykernel, LARGE) for _ in range(3)]
    wait_until_gone(ipykernel, orphan)
    assert entries(ipykernel) == [mentioned, by_name, *last]
    assert ipykernel.ask("[len(it) for it in (_, __, ___)]") == [8 * MIB] * 3
    assert ipykernel.value("len(later()), len(eval(later_by_name))") == f"({8 * MIB}, {8 * MIB})"


def test_a_tensor_that_was_shown_and_unnamed_goes_from_torchs_census(ipykernel: Session) -> None:
    ipykernel.run("import torch")
    number = shown(ipykernel, "t = torch.ones(2 << 20); t")
    for cell in ("del t", "'a'", "'b'", "'c'"):
        ipykernel.run(cell)
    wait_until_gone(ipykernel, number)
    ipykernel.run("from xleak import _torch")
    assert ipykernel.ask(TENSORS) < 8 * MIB
