"""What code does with a container, by its source."""

from __future__ import annotations

import pytest
from xleak.shell.holders.additions import Doing, Named, places_in

ROWS = Named("rows", is_attribute=False, elements_at=1, count=24)
ATTRIBUTE = Named("rows", is_attribute=True, elements_at=1, count=24)


@pytest.mark.parametrize(
    ("code", "doings"),
    [
        ("rows.append(x)", [Doing.ADDS]),
        ("rows[key] = x", [Doing.ADDS]),
        ("rows[key].append(x)", [Doing.ADDS]),
        ("rows.setdefault(key, []).append(x)", [Doing.ADDS]),
        ("rows += [x]", [Doing.ADDS]),
        ("rows = rows + [x]", [Doing.ADDS, Doing.READS]),
        ("layer.register_forward_hook(rows.append)", [Doing.ADDS]),
        ("rows.clear()", [Doing.TAKES]),
        ("last = rows.pop()", [Doing.TAKES]),
        ("del rows[0]", [Doing.TAKES]),
        ("del rows", [Doing.TAKES]),
        ("sum(rows)", [Doing.READS]),
        ("for row in rows: pass", [Doing.READS]),
        ("rows[1:]", [Doing.READS]),
        ("rows[-2:]", []),
        ("rows[-20:]", [Doing.READS]),
        ("rows[:2]", []),
        ("rows[:-2]", [Doing.READS]),
        ("rows[-n:]", []),
        ("globals()['rows']", [Doing.READS]),
        ("rows == other", [Doing.READS]),
        ("rows[-1]", []),
        ("len(rows)", []),
        ("if key in rows: pass", []),
        ("if not rows: pass", []),
        ("rows = []", []),
        ("lines.append(x)", []),
        ("table.rows.append(x)", []),
    ],
)
def test_a_place_adds_takes_or_reads(code: str, doings: list[Doing]) -> None:
    assert sorted(it.doing.name for it in places_in(code, ROWS)) == [it.name for it in doings]


@pytest.mark.parametrize(
    ("code", "function", "in_loop", "of_self"),
    [
        ("def add(self, x):\n    self.rows.append(x)", ("add", 1), False, False),
        ("@step\ndef add(self, x):\n    self.rows.append(x)", ("add", 1), False, False),
        ("\n\ndef add(self, x):\n    self.rows.append(x)", ("add", 1), False, False),
        ("def fit(self):\n    for x in y: self.rows.append(x)", ("fit", 1), True, False),
        ("for x in y: it.rows.append(x)", None, True, False),
        ("f = lambda x: it.rows.append(x)", ("<lambda>", 1), False, False),
        ("def __init__(self): self.rows[0] = 1", ("__init__", 1), False, True),
        ("hook(it.rows.append)", ("append", None), False, False),
    ],
)
def test_a_place_says_which_function_has_it(
    code: str, function: tuple[str, int | None] | None, in_loop: bool, of_self: bool
) -> None:
    [place] = places_in(code, ATTRIBUTE)
    assert place.doing is Doing.ADDS
    assert (place.function, place.in_loop, place.of_self) == (function, in_loop, of_self)


def test_a_local_of_the_same_name_is_another() -> None:
    code = "def add(x):\n    rows = []\n    rows.append(x)"
    assert [*places_in(code, ROWS)] == []
