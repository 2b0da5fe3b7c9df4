"""Functions that alone keep what they captured are noted, and nothing of them is called."""

from __future__ import annotations

import pytest
from shells import MIB, Session

MAKE = """
import functools
import numpy as np
def capturing(rows):
    return lambda: rows
def wrapped(function):
    @functools.wraps(function)
    def inner(): return function()
    return inner
class Holder: pass
class Table:
    def __init__(self): self.rows = np.ones(500_000)
    def at(self, k): return float(self.rows[k])
"""

KEPT = {
    "f": "f = capturing(np.ones(500_000))",
    "fs": "fs = [capturing(np.ones(500_000))]",
    "table": "table = {'big': functools.partial(print, np.ones(500_000))}",
    "partial": "partial = functools.partial(functools.partial(print, sep=Table().at), 1)",
    "box.f": "box = Holder(); box.f = capturing(np.ones(500_000))",
    "steps": "steps = [('scale', capturing(np.ones(500_000)))]",
    "behind": "behind = wrapped(capturing(np.ones(500_000)))",
}
QUIET = [
    "rows = np.ones(500_000); f = capturing(rows)",
    "f = g = capturing(np.ones(500_000))",
    "table = Table(); at = table.at",
    "pair = (capturing(np.ones(500_000)), 1)",
    "f = capturing([np.ones(500_000)])",
    "f = capturing(np.ones(10))",
]


def test_several_are_a_warning_until_the_last_cell_uses_them(session: Session) -> None:
    session.run(MAKE)
    session.run("fs = [capturing(np.ones(500_000)) for _ in range(3)]")
    severities = []
    for cell in ("1", "total = sum(f().sum() for f in fs)", "2"):
        session.run(cell)
        session.shell.run_line_magic("leakcheck", "")
        severities += [it.severity for it in session.watcher.findings() if it.code == "XL407"]
    assert severities == ["warning", "note", "warning"]


def noted(session: Session) -> dict[str, int]:
    found = session.watcher.findings()
    return {it.key: it.bytes or 0 for it in found if it.code == "XL407"}


@pytest.mark.parametrize("key", KEPT)
def test_a_function_that_alone_keeps_an_array_is_noted_until_the_fix_ran(
    session: Session, key: str
) -> None:
    session.run(MAKE)
    session.run(KEPT[key])
    assert [(it, size // MIB) for it, size in noted(session).items()] == [(key, 3)]
    [found] = [it for it in session.watcher.findings() if it.code == "XL407"]
    session.run(found.fixes[0].code)
    assert noted(session) == {}


@pytest.mark.parametrize("source", QUIET)
def test_what_has_another_holder_or_cannot_be_deleted_is_not_noted(
    session: Session, source: str
) -> None:
    session.run(MAKE)
    session.run(source)
    session.run("later = np.ones(200_000)")
    assert noted(session) == {}


HOSTILE = """
class Hostile:
    def __init__(self): object.__setattr__(self, "payload", bytearray(4 << 20))
    def _angry(self, *rest, **more): touched.append(1); raise AssertionError("xleak ran user code")
    __eq__ = __len__ = __getattribute__ = __repr__ = __bool__ = __hash__ = __iter__ = _angry
    __class__ = property(_angry)
touched = []
f = capturing(Hostile())
"""


def test_no_code_of_what_was_captured_runs(session: Session) -> None:
    session.run(MAKE)
    session.run(HOSTILE)
    assert list(noted(session)) == ["f"]
    assert session.shell.user_ns["touched"] == []


@pytest.mark.parametrize(
    "one", ["Table().at", "lambda k, rows=np.ones(500_000): rows[k]"], ids=["method", "default"]
)
def test_several_methods_or_defaults_count_once_no_cell_uses_them(
    session: Session, one: str
) -> None:
    found = []
    for cell in (MAKE, f"fs = [{one} for _ in range(3)]", "print(fs[0](0))", "print('on')"):
        session.run(cell)
        session.shell.run_line_magic("leakcheck", "")
        found += [it.severity for it in session.watcher.findings() if it.code == "XL407"]
    assert found == ["warning"]


def test_those_that_the_objects_of_one_container_have_are_one_finding(session: Session) -> None:
    session.run(MAKE)
    session.run(
        "boxes = [Holder() for _ in range(3)]\n"
        "for box in boxes: box.f = capturing(np.ones(500_000))\ndel box"
    )
    session.run("print(len(boxes))")
    session.shell.run_line_magic("leakcheck", "")
    [found] = [it for it in session.watcher.findings() if it.code == "XL407"]
    assert (found.key, found.severity, (found.bytes or 0) // MIB) == ("boxes", "warning", 11)
    session.run(found.fixes[0].code)
    assert noted(session) == {}


def test_a_large_one_that_the_last_cell_does_not_use_is_a_warning_in_a_verdict(
    session: Session,
) -> None:
    severities = []
    for cell in (MAKE, "f = capturing(np.ones(3_000_000))", "print(f().shape)", "print('on')"):
        session.run(cell)
        session.shell.run_line_magic("leakcheck", "")
        severities += [it.severity for it in session.watcher.findings() if it.code == "XL407"]
    assert severities == ["note", "note", "warning"]


def test_a_partial_that_has_itself_is_looked_into_once(session: Session) -> None:
    session.run(MAKE)
    session.run("own = functools.partial(print, end=np.ones(500_000)); own.keywords['sep'] = own")
    assert "own" in noted(session)
