"""What the kernel says of values that only the output cache still holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from harness import Session

MIB = 1 << 20
PREPARE = """
import io
import numpy as np, torch
MIB = 1 << 20
"""


def leaks(kernel: Session) -> dict[str, int]:
    """Bytes of the findings, by entry."""
    return {entry: found["bytes"] for entry, found in kernel.findings().items()}


@pytest.fixture(scope="module")
def prepared(kernel: Session) -> Session:
    kernel.run(PREPARE)
    return kernel


@pytest.fixture
def session(prepared: Session) -> Iterator[Session]:
    """The kernel, without what earlier cases have shown."""
    yield prepared
    prepared.run("value = other = None")
    for entry in leaks(prepared):
        prepared.run(f"%xdel {entry}")


def shown(session: Session, cell: str) -> str:
    """Runs a cell that shows a value; the name of its output entry."""
    ran = session.run(cell)
    assert ran.content["status"] == "ok", ran.content
    return f"Out[{ran.content['execution_count']}]"


@pytest.mark.parametrize(
    "made",
    [
        "'é' * (4 * MIB)",
        "bytes(4 * MIB)",
        "io.BytesIO(bytearray(4 * MIB))",
        "memoryview(np.zeros(MIB // 2))[:3]",
        "torch.zeros(MIB).share_memory_()",
    ],
)
def test_a_value_leaks_whatever_keeps_its_bytes(session: Session, made: str) -> None:
    entry = shown(
        session, f"value = {made}\nvalue if type(value) is not str else value[:0] or value"
    )
    assert leaks(session) == {}
    session.run("del value")
    assert leaks(session) == {entry: pytest.approx(4 * MIB, rel=0.02)}


def test_a_fake_tensor_has_no_bytes_and_no_warning_is_shown(session: Session) -> None:
    shown(
        session,
        "from torch._subclasses.fake_tensor import FakeTensorMode\n"
        "with FakeTensorMode(): value = torch.empty(MIB)\nvalue",
    )
    assert session.run("del value").text("stderr") == ""
    assert leaks(session) == {}


@pytest.mark.parametrize("item", ["np.zeros(MIB)", "list(range(1_000, 200_000))"])
def test_release_of_a_shown_container_takes_its_shown_item_along(
    session: Session, item: str
) -> None:
    container = shown(session, f"value = {item}\n[value]")
    shown(session, "value")
    session.run("del value")
    assert list(leaks(session)) == [container]
    session.run(f"%xdel {container}")
    assert leaks(session) == {}


def test_release_of_a_shown_container_leaves_an_item_that_the_source_uses(
    session: Session,
) -> None:
    item = shown(session, "value = np.zeros(MIB)\nvalue")
    container = shown(session, "[value, np.zeros(MIB)]")
    session.run(f"del value; other = {item}[0]")
    assert item not in session.run(f"%xdel {container}").text().splitlines()[0]
    assert session.run(f"print({item}.size)").text() == f"{MIB}\n"


def test_memory_that_processes_share_comes_back_to_no_counter_that_is_known(
    session: Session,
) -> None:
    entry = shown(session, "value = torch.zeros(MIB).share_memory_()\nvalue")
    session.run("del value")
    assert "unknown: about 4 MiB" in session.run(f"%xdel {entry}").text()


@pytest.mark.parametrize(
    "variable", [{"XLEAK_POLICY": "loud"}, {"XLEAK_NOTICE_BYTES": "much"}], ids=str
)
def test_a_slip_in_the_environment_is_one_sentence_and_the_kernel_runs(
    start_kernel: Callable[..., Session], variable: dict[str, str]
) -> None:
    assert start_kernel(**variable).value("1 + 1") == "2"


def test_a_tool_s_name_that_the_source_uses_keeps_its_value_from_leaking(session: Session) -> None:
    shown(session, "value = np.zeros(MIB)\nvalue")
    session.run("from_tool = value", silent=True)
    session.run("other = from_tool.size; del value")
    assert leaks(session) == {}
    session.run("del from_tool")
    assert len(leaks(session)) == 1


def test_release_of_a_number_leaves_the_last_error_alone(session: Session) -> None:
    session.run("1 / 0")
    entry = shown(session, "3")
    assert "traceback" not in session.run(f"%xdel {entry}").text()


def test_what_the_underscores_mean_stays_in_a_general_release_and_is_said_to(
    session: Session,
) -> None:
    entry = shown(session, "value = np.zeros(MIB)\nvalue")
    session.run("del value")
    assert (
        f"{entry} 8 MiB: `_`, `__` or `___` still mean it" in session.run("%release_cache").text()
    )
    assert list(leaks(session)) == [entry]


def test_what_a_look_takes_for_itself_is_kept_by_no_cell(fresh_kernel: Session) -> None:
    fresh_kernel.run("1 + 1")
    loaded = "len([name for name in __import__('sys').modules if name.startswith('xleak.')])"
    before = fresh_kernel.ask(loaded)
    fresh_kernel.run(f"value = bytearray({MIB})")
    fresh_kernel.settle()
    assert fresh_kernel.ask(loaded) > before + 20, "the first look loads the detectors"
    fresh_kernel.run("del value")
    kept = fresh_kernel.ask("__import__('xleak')._native.latest_record().python_bytes_kept")
    assert abs(kept) < MIB // 4
