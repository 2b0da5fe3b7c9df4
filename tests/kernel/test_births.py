"""The line that made what is kept, whichever cell called it, and verdicts that wait for no further cell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness import Session, start, stop

MIB = 1 << 20
FACTS = """[
    (f.code, f.bytes, f.cause_cell, f.line, f.holders[:1], [fix.code for fix in f.fixes])
    for f in __import__("xleak")._native.findings()
]"""
LOAD = """

import numpy as np

def load(number):
    # one MiB
    return np.full(1 << 17, float(number))
"""


@pytest.fixture
def kernel() -> Iterator[Session]:
    session = start()
    yield session
    stop(session)


def findings(kernel: Session) -> list[tuple[str, int, int, int, list[str], list[str]]]:
    kernel.settle()
    found: list[tuple[str, int, int, int, list[str], list[str]]] = kernel.ask(FACTS)
    return found


def test_a_finding_names_the_line_of_a_function_in_an_earlier_cell(kernel: Session) -> None:
    kernel.run(LOAD)
    kernel.run(
        "import asyncio\n"
        "for number in range(4):\n"
        "    asyncio.get_running_loop().call_later(3600, print, load(number))"
    )
    kernel.run("pass")
    [(code, size, cell, line, _, fixes)] = findings(kernel)
    assert (code, cell, line, fixes) == ("XL421", 1, 7, [])
    assert size == pytest.approx(4 * MIB, rel=0.02)
    kernel.run("asyncio.get_running_loop()._scheduled.clear()")
    assert findings(kernel) == []


def test_what_the_last_cell_deleted_is_judged_once_somebody_asks(kernel: Session) -> None:
    kernel.run(LOAD)
    kernel.run("class Index:\n    def __init__(self, rows): self.rows = rows")
    kernel.run("rows = [load(number) for number in range(3)]\nindex = Index(rows)")
    kernel.settle()
    kernel.run("del rows")
    assert findings(kernel) == []
    kernel.run("%leakcheck")
    [(code, size, cell, line, holders, fixes)] = kernel.ask(FACTS)
    assert (code, cell, line) == ("XL422", 1, 7)
    assert (holders, fixes) == (["index.rows"], ["index.rows = None"])
    assert size == pytest.approx(3 * MIB, rel=0.02)


def test_what_nobody_uses_again_is_a_note_of_a_verdict(kernel: Session) -> None:
    kernel.run(LOAD)
    kernel.run("raw = load(1)\nmean = raw.mean()")
    kernel.run("print(mean)")
    assert findings(kernel) == []
    kernel.run("%leakcheck")
    [(code, size, cell, line, holders, fixes)] = kernel.ask(FACTS)
    assert (code, cell, line, holders, fixes) == ("XL420", 1, 7, ["raw"], ["del raw"])
    assert size == pytest.approx(MIB, rel=0.02)
