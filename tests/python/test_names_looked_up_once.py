"""A namespace is read once for all the names that are looked up in it, not once for each."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import Any

import pytest
from shells import Session
from xleak import _native
from xleak.shell import batches, release, watcher
from xleak.shell.holders import calls, churn


class Counting:
    """The native module, and how often each of its functions was asked for."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.counts[name] += 1
        return getattr(_native, name)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    native = Counting()
    modules: list[ModuleType] = [batches, release, watcher, calls, churn]
    for module in modules:
        monkeypatch.setattr(module, "_native", native)
    return native.counts


def test_the_words_of_a_cell_are_looked_up_in_one_copy(counting: Counter[str]) -> None:
    names = {f"name_{number}": number for number in range(50)} | {"batch_size": 8}
    assert batches.batch_size("\n".join(names), names) == 8
    assert (counting["entries_of"], counting["value_at"]) == (1, 0)


def test_a_factory_is_looked_up_without_reading_the_names_again(counting: Counter[str]) -> None:
    assert calls.meant_by("sys.path", {"sys": __import__("sys")}) is __import__("sys").path
    assert counting["value_at"] == 0


def test_several_names_are_deleted_by_as_many_copies_as_one(
    session: Session, counting: Counter[str]
) -> None:
    session.run("a, b, c, d = [bytearray(9) for _ in range(4)]")
    counting.clear()
    release.forget("a")
    of_one = counting["entries_of"], counting["value_at"]
    counting.clear()
    release.forget("b", "c", "d")
    assert (counting["entries_of"], counting["value_at"]) == of_one
    assert not {"a", "b", "c", "d"} & set(session.shell.user_ns)


def test_a_look_asks_once_which_names_a_tool_made(session: Session, counting: Counter[str]) -> None:
    session.run("mine = [1]\nmine")
    session.ask("made_by_a_tool = [2]")
    assert session.watcher.tool_names() == {"made_by_a_tool"}
    counting.clear()
    session.watcher.refresh()
    assert counting["items_of"] == 1
    session.run("made_by_a_tool")
    assert session.watcher.tool_names() == set()
