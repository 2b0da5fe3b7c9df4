"""Whether the cells call a function once or again and again."""

from __future__ import annotations

import pytest
from xleak.shell.holders.call_sites import is_called_again


@pytest.mark.parametrize(
    "cells",
    [
        ["for x in xs:\n    meter.log(a=x)"],
        ["[log(x) for x in xs]"],
        ["meter.log(a=1)", "meter.log(a=2)"],
        ["def epoch():\n    for x in xs: meter.log(x)", "epoch()"],
        ["def step(x): log(x)", "for x in xs: step(x)"],
        ["loader = Loader(collate=log)"],
        ["def log(n):\n    return n and log(n - 1)", "log(3)"],
    ],
)
def test_a_loop_a_second_call_or_a_caller_unknown_is_called_again(cells: list[str]) -> None:
    assert is_called_again(cells, "log")


@pytest.mark.parametrize(
    "cells",
    [
        ["model.log(xs)"],
        ["a.log(xs)", "b.log(xs)"],
        ["for k in range(3):\n    m = Model(k)\n    m.log(xs)"],
        ["def run():\n    m = Model()\n    m.log(xs)", "run()"],
    ],
)
def test_one_call_for_each_object_is_none(cells: list[str]) -> None:
    assert not is_called_again(cells, "log")
