"""Built-in containers as a look finds them, and how growth is told from the rest."""

from __future__ import annotations

import gc
import sys
from collections import deque
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from shells import Session
from xleak import _native
from xleak.shell.holders.growth_history import GrowthHistory, Observed
from xleak.shell.holders.look import Look

MIB = 1 << 20


def array() -> Any:
    return np.ones(MIB // 8)


def containers_of(namespace: dict[str, Any]) -> dict[str, tuple[int, list[Any]]]:
    slots = [(namespace, name, name) for name in namespace]
    roots: list[tuple[str, object]] = [("sys.modules", sys.modules)]
    heap = _native.HeapSnapshot.take(slots, roots, [], None, None)
    assert heap is not None
    return {way: (kept, owners) for _, way, kept, owners in heap.containers(64 << 10, 50)}


def test_containers_come_with_what_they_keep_and_who_has_them() -> None:
    box = SimpleNamespace(items=[array(), array()])
    found = containers_of({"box": box, "queue": deque([array()])})
    kept, owners = found["box.items"]
    assert 2 * MIB <= kept < 2.1 * MIB
    assert owners[0] is box
    assert found["queue"][1] == []


def test_a_dictionary_that_the_collector_does_not_track_is_found_too() -> None:
    cache = {"a": array()}
    assert not gc.is_tracked(cache)
    assert "cache" in containers_of({"cache": cache})


def test_what_a_library_has_is_not_among_the_names() -> None:
    assert not [way for way in containers_of({"few": [1]}) if way.startswith("sys.modules")]


class Looks:
    """A history that sees one container grow from cell to cell."""

    def __init__(self) -> None:
        self.history = GrowthHistory()
        self.sources: dict[int, str] = {}

    def see(
        self, mebibytes: float, source: str = "", *, count: int | None = None, **more: Any
    ) -> bool:
        self.sources[len(self.sources) + 1] = source
        look = cast(Look, SimpleNamespace(cell=len(self.sources), sources=self.sources))
        options = {"identity": 1, "is_new": False, "by_the_user": False, **more}
        size = int(mebibytes * MIB)
        seen = Observed("x", count=size if count is None else count, kept=size, **options)
        return "x" in self.history.grown(look, [seen] if size else [])


def test_three_rises_are_growth() -> None:
    looks = Looks()
    assert [looks.see(n) for n in (1, 2, 3, 4)] == [False, False, True, True]


def test_what_the_cell_made_with_its_elements_has_not_grown_yet() -> None:
    looks = Looks()
    assert [looks.see(n, is_new=n == 5) for n in (5, 6, 7, 8)] == [False, False, False, True]


def test_three_small_rises_are_none() -> None:
    looks = Looks()
    assert not any([looks.see(n) for n in (0.1, 0.3, 0.6, 0.9)])


@pytest.mark.parametrize(
    "third", [{"identity": 2}, {"by_the_user": True}, {"count": 1}], ids=lambda it: next(iter(it))
)
def test_what_is_replaced_shrinks_or_is_filled_in_plain_sight_has_not_grown(
    third: dict[str, Any],
) -> None:
    looks = Looks()
    looks.see(1)
    looks.see(2)
    assert not looks.see(3, **third)


def test_the_same_cell_without_a_rise_is_a_level() -> None:
    looks = Looks()
    looks.see(1, "step()")
    looks.see(2, "step()")
    looks.see(2, "step()")
    assert not looks.see(3, "step()")


def test_another_cell_without_a_rise_is_none() -> None:
    looks = Looks()
    looks.see(1, "step()")
    looks.see(2, "step()")
    looks.see(2, "plot()")
    assert looks.see(3, "step()")


def test_what_was_small_again_starts_anew() -> None:
    looks = Looks()
    looks.see(1)
    looks.see(2)
    looks.see(0)
    assert not looks.see(3)


HOSTILE = """
class Hostile:
    def __init__(self): object.__setattr__(self, "payload", bytearray(1 << 20))
    def _refuse(self, *args):
        if armed: touched.append(1)
        raise RuntimeError("touched")
    __eq__ = __len__ = __iter__ = __getattr__ = __hash__ = __bool__ = __contains__ = _refuse
    __str__ = __format__ = __repr__ = __getitem__ = __sizeof__ = _refuse
    __class__ = property(_refuse)
touched, armed, kept = [], [], []
class Meta(type):
    __instancecheck__ = __subclasscheck__ = lambda *a: touched.append(2)
class Odd(Hostile, metaclass=Meta): ...
def step(seen=[]):
    kept.append(Odd())
    seen.append(Hostile())
"""


def test_containers_of_hostile_objects_are_told_untouched(session: Session) -> None:
    session.run(HOSTILE)
    session.run("armed.append(1)")
    for _ in range(4):
        session.run("step()")
    told = {found.code: found.holders for found in _native.findings()}
    assert told == {"XL105": ["kept"], "XL410": ["step.__defaults__[0]"]}
    assert session.shell.user_ns["touched"] == []


def codes() -> list[str]:
    return [found.code for found in _native.findings()]


def test_growth_by_less_than_a_search_is_worth_is_found_in_the_end(session: Session) -> None:
    session.run("taps = []\ndef step():\n    taps.append(bytearray(500_000))")
    for _ in range(12):
        session.run("step()")
    assert codes() == ["XL105"]


def test_numbers_and_texts_are_no_growth(session: Session) -> None:
    session.run("ids = {}\ndef step():\n    for n in range(30_000): ids[len(ids)] = f'word {n}'")
    for _ in range(5):
        session.run("step()")
    assert codes() == []


def test_what_the_cells_store_by_name_is_meant_to_stay(session: Session) -> None:
    session.run("parts = {}\ndef load(name): parts[name] = bytearray(2_000_000)")
    for name in ("train", "valid", "test", "extra"):
        session.run(f"load('{name}')")
    assert codes() == []


def test_a_cache_of_numbers_is_no_growth(session: Session) -> None:
    session.run("import functools\n@functools.cache\ndef length(text): return len(text)")
    for run in range(5):
        # The second time each hits.
        texts = f"(f'{{n % 20_000}} of {run}' for n in range(40_000))"
        session.run(f"total = sum(length(text) for text in {texts})")
    assert codes() == []


def test_a_cache_of_arrays_is(session: Session) -> None:
    session.run("import functools, numpy\n@functools.cache\ndef made(n): return numpy.ones(n)")
    for run in range(1, 5):
        session.run(f"total = made({run} * 200_000).sum()")
    assert codes() == ["XL109"]


HOSTILE_MODULE = """
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        self.seen = x * torch.ones(1, requires_grad=True)
        return 1.0
    def __getattribute__(self, name):
        if armed: touched.append(name)
        return super().__getattribute__(name)
armed, touched = [], []
net = Net()
"""


def test_a_module_that_watches_its_attributes_is_told_untouched(session: Session) -> None:
    session.run(HOSTILE_MODULE)
    session.run(
        "torch.nn.Module.__call__(net, torch.rand(1000, 600)); touched.clear(); armed.append(1)"
    )
    assert codes() == ["XL103"]
    assert session.shell.user_ns["touched"] == []
