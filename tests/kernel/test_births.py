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
    assert (code, cell, line) == ("XL421", 1, 7)
    assert size == pytest.approx(4 * MIB, rel=0.02)
    [cancelling] = fixes
    kernel.run(cancelling)
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
    assert (holders, fixes) == (["index.rows"], ["index.rows.clear()"])
    assert size == pytest.approx(3 * MIB, rel=0.02)


def test_what_one_element_keeps_has_a_line_and_goes_with_it(kernel: Session) -> None:
    kernel.run(LOAD)
    kernel.run("def fail(number):\n    part = load(number)\n    raise ValueError(number)")
    kernel.run(
        "errors = {}\n"
        "for number in range(2):\n"
        "    try: fail(number)\n"
        "    except ValueError as error: errors[number] = error"
    )
    kernel.run("class Quiet:\n    def __init__(self, net): self.net = net")
    kernel.run("class Net:\n    def __init__(self): self.rows = load(9)")
    kernel.run("class Log: pass\nlog, net = Log(), Net()\nlog.filters = [Quiet(net), print]")
    kernel.settle()
    kernel.run("del net")
    kernel.run("%leakcheck")
    found = {
        holders[0]: (code, cell, line, fixes)
        for code, _, cell, line, holders, fixes in kernel.ask(FACTS)
    }
    release = "errors[0].__traceback__ = None; errors[1].__traceback__ = None"
    assert found["errors"] == ("XL403", 1, 7, [release])
    [(code, cell, line, fixes)] = [it for way, it in found.items() if way.startswith("log.")]
    assert (code, cell, line) == ("XL422", 1, 7)
    assert fixes in (["del log.filters[0]"], ["log.filters[0].net = None"])


def test_what_nobody_uses_again_is_a_note_of_a_verdict(kernel: Session) -> None:
    kernel.run(LOAD)
    kernel.run("raw = load(1)\nmean = raw.mean()")
    kernel.run("print(mean)")
    assert findings(kernel) == []
    kernel.run("%leakcheck")
    [(code, size, cell, line, holders, fixes)] = kernel.ask(FACTS)
    assert (code, cell, line, holders, fixes) == ("XL420", 1, 7, ["raw"], ["del raw"])
    assert size == pytest.approx(MIB, rel=0.02)


@pytest.mark.parametrize(
    "made",
    [
        "class Title(str): pass\ndef make(): return Title('t' * (1 << 25))\nvalue = make()",
        "import array\ndef make(): return array.array('d', bytes(1 << 25))\nvalue = make()",
        "import io\ndef make(): return io.BytesIO(bytes(1 << 25))\nvalue = make()",
    ],
    ids=["a subclass of str", "array.array", "BytesIO"],
)
def test_the_line_of_memory_beside_its_object_is_known(kernel: Session, made: str) -> None:
    kernel.run(made)
    kernel.run("print(type(value))")
    kernel.run("print()")
    kernel.run("%leakcheck")
    [(code, _, cell, line, holders, _)] = kernel.ask(FACTS)
    assert (code, cell, line, holders) == ("XL420", 1, 2, ["value"])


def test_a_replaced_layer_that_the_optimizer_keeps_is_reported(kernel: Session) -> None:
    kernel.run(
        "import torch\n"
        "net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(1024, 2048))\n"
        "optimizer = torch.optim.SGD(net.parameters())"
    )
    kernel.settle()
    kernel.run("net[1] = torch.nn.Linear(8, 2)")
    kernel.run("optimizer.step()")
    kernel.run("%leakcheck")
    [(code, size, cell, line, holders, _)] = kernel.ask(FACTS)
    assert (code, cell, line) == ("XL422", 1, 2)
    assert holders[0].startswith("optimizer.")
    assert size == pytest.approx(8 * MIB, rel=0.02)


METER = """class Meter:
    def __init__(self):
        self.sum, self.rows = 0.0, []
    def add(self, row):
        self.sum += row[0]
        self.rows.append(row)
    def all(self):
        return [row for row in self.rows]
"""


def test_what_a_method_adds_is_reported_until_code_reads_it(kernel: Session) -> None:
    kernel.run(LOAD)
    kernel.run(METER)
    kernel.run("meter = Meter()\nfor number in range(4):\n    meter.add(load(number))")
    assert findings(kernel) == []
    kernel.run("%leakcheck")
    [(code, size, cell, line, holders, fixes)] = kernel.ask(FACTS)
    assert (code, cell, line) == ("XL423", 1, 7)
    assert (holders, fixes) == (["meter.rows"], ["meter.rows.clear()"])
    assert size == pytest.approx(4 * MIB, rel=0.02)
    kernel.run("print(len(meter.all()))\n%leakcheck")
    assert "XL423" not in [code for code, *_ in findings(kernel)]


@pytest.mark.parametrize(
    "used",
    [
        "for number in range(4):\n    meter.rows.append(load(number))",
        "for number in range(4):\n    meter.add(load(number))\n    meter.rows.pop()",
        "for number in range(4):\n    meter.add(load(number))\nlatest = meter.rows[1:]",
        "def fill(meter):\n    for number in range(4):\n        meter.rows.append(load(number))\nfill(meter)",
    ],
    ids=["by a statement", "taken out", "read", "filled by one call"],
)
def test_what_a_cell_shows_of_a_container_is_no_growth(kernel: Session, used: str) -> None:
    kernel.run(LOAD)
    kernel.run(METER)
    kernel.run(f"meter = Meter()\n{used}")
    kernel.run("%leakcheck")
    assert "XL423" not in [code for code, *_ in findings(kernel)]
