"""A finding of the run names what was seen: the keys of a cache, the terms of a sum, the files."""

from __future__ import annotations

from pathlib import Path

import pytest
from shells import Session
from xleak import _native


def message(code: str) -> str:
    (found,) = [it for it in _native.findings() if it.code == code]
    return found.message


TIMES = """
import datetime, functools
import numpy as np
@functools.lru_cache(maxsize=None)
def day(time): return np.ones(20_000)
"""


def test_a_cache_by_values_that_never_come_again_names_their_type(session: Session) -> None:
    session.run(TIMES)
    session.run("for n in range(40): day(datetime.datetime(2026, 1, 1, 0, n))")
    assert "nearly every call had a new `datetime`" in message("XL109")
    assert "ensor" not in message("XL109")


def test_what_all_entries_have_in_common_is_no_reason(session: Session) -> None:
    session.run(TIMES.replace("day(time)", "day(where, time)"))
    session.run("class Place: pass\nhere = Place()")
    session.run("for n in range(40): day(here, time=datetime.datetime(2026, 1, 1, 0, n))")
    assert "nearly every call had a new `datetime`" in message("XL109")


def test_a_cache_by_objects_that_are_compared_by_identity_says_so(session: Session) -> None:
    session.run(TIMES)
    session.run("class Scan: pass")
    session.run("for n in range(40): day(Scan())")
    assert "a new `Scan` never equals another one" in message("XL109")


def test_a_tensor_is_compared_by_identity(session: Session) -> None:
    session.run(TIMES)
    session.run("import torch")
    session.run("for n in range(40): day(torch.ones(n))")
    assert "a new `Tensor` never equals another one" in message("XL109")


def test_an_object_that_answers_for_its_class_is_not_asked(session: Session) -> None:
    session.run(TIMES)
    session.run("""
asked = []
class Meta(type):
    def __getattribute__(cls, name):
        asked.append(name)
        return super().__getattribute__(name)
class Key(metaclass=Meta):
    def __hash__(self): return 1
    def __eq__(self, other): return self is other
    def __getattribute__(self, name):
        asked.append(name)
        return super().__getattribute__(name)
""")
    session.run("for n in range(40): day(Key())\nasked.clear()")
    assert "nearly every call had a new `Key`" in message("XL109")
    assert session.shell.user_ns["asked"] == []


@pytest.mark.parametrize(
    ("term", "has_item"), [(".square().mean()", True), (".square().mean(0)", False)]
)
def test_only_the_terms_of_a_number_have_an_item(
    session: Session, term: str, has_item: bool
) -> None:
    session.run("import torch\nnet = torch.nn.Sequential(*[torch.nn.Linear(200, 200)] * 2)")
    session.run(f"total = 0.0\nfor n in range(20): total = total + net(torch.rand(100, 200)){term}")
    session.run("kind = total.dtype")
    assert (".item()" in message("XL203")) is has_item
    assert ".detach()" in message("XL203")


@pytest.mark.parametrize(("mode", "lost"), [("r", False), ("a", True)])
def test_only_what_is_written_may_be_lost(
    session: Session, tmp_path: Path, mode: str, lost: bool
) -> None:
    (tmp_path / "log.txt").write_text("begun\n")
    session.run("logs = []")
    for _ in range(2):
        session.run(f"logs.append(open({str(tmp_path / 'log.txt')!r}, {mode!r}))")
    assert ("what was written last" in message("XL505")) is lost
    session.run("for log in logs: log.close()")
