"""Garbage that waits for the collector is found, told by its class, and left to the collector."""

from __future__ import annotations

import functools
import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from shells import MIB, Session
from xleak import _native

Found = list[tuple[list[Any], int]]


class Node:
    def __init__(self, *links: Any) -> None:
        self.links = list(links)
        self.payload = bytearray(2 * MIB)

    def step(self) -> None: ...


@pytest.fixture(autouse=True)
def nothing_is_collected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def cycles() -> list[tuple[set[str], int, str]]:
    """(classes, bytes, shortest way back) of each cycle that this module closes."""
    heap = _native.HeapSnapshot.take([], [("sys.modules", sys.modules)], [], None, None)
    assert heap is not None
    with _native.LiveObjects() as live:
        found = heap.garbage_cycles(live.made_in(globals()))
        return [
            ({_native.type_name(it) for it in members}, kept, heap.way_around(members[0])[0])
            for members, kept in found
        ]


def to_itself() -> None:
    node = Node()
    node.links.append(node)


def by_a_method() -> None:
    node = Node()
    node.links.append(node.step)


def by_a_partial() -> None:
    node = Node()
    node.links.append(functools.partial(print, node))


WAYS: dict[str, Callable[[], None]] = {
    ".links[0]": to_itself,
    ".links[0].__self__": by_a_method,
    ".links[0].args[0]": by_a_partial,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_cycle_is_told_by_its_shortest_way_back(way: str) -> None:
    WAYS[way]()
    [(classes, kept, told)] = cycles()
    assert classes == {"Node"}
    assert told == way
    before = _native.heap().used_bytes
    gc.collect()
    assert before - _native.heap().used_bytes == pytest.approx(kept, rel=0.01)
    assert cycles() == []


def test_a_cycle_that_something_reaches_is_no_garbage() -> None:
    node = Node()
    node.links.append(node)
    assert cycles() == []
    node.links.clear()


def test_what_reference_counts_free_is_no_garbage() -> None:
    parent = Node()
    parent.links.append(Node(weakref.ref(parent)))
    del parent
    assert cycles() == []


def test_a_cycle_of_others_is_not_this_module_s() -> None:
    ring: list[Any] = [Node()]
    ring.append(ring)
    del ring
    assert cycles() == []


def test_a_traceback_makes_no_cycle() -> None:
    def fail() -> None:
        node = Node()
        try:
            raise ValueError
        except ValueError as error:
            node.links.append(error)

    fail()
    assert cycles() == []


def test_finding_cycles_collects_nothing() -> None:
    node = Node()
    node.links.append(node)
    alive = weakref.ref(node)
    del node
    assert len(cycles()) == 1
    assert alive() is not None


HOSTILE = """
class Hostile:
    def __init__(self):
        object.__setattr__(self, "me", self)
        object.__setattr__(self, "payload", bytearray(20 << 20))
    def _angry(self, *rest, **more): raise AssertionError("xleak ran user code")
    __eq__ = __len__ = __getattribute__ = __repr__ = __str__ = __bool__ = __hash__ = _angry
    __class__ = property(_angry)
"""


def test_no_code_of_an_object_in_a_cycle_runs(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run(HOSTILE)
    session.run("x = Hostile()")
    session.run("del x")
    assert [finding.code for finding in session.watcher.findings()] == ["XL106"]
    assert "xleak failed" not in capsys.readouterr().err
