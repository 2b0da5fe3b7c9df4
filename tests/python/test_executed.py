"""What the source of cells says of names."""

from __future__ import annotations

import pytest
from xleak.shell.holders.executed import (
    led_back_with_retain_graph,
    led_on,
    names_let_go,
    parts_replaced,
)

FUNCTION = """
def step(batch):
    loss = net(batch)
    loss.backward(retain_graph=True)
    return loss
"""


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("out, state = rnn(x, state)", {"state"}),
        ("total += loss", {"total"}),
        ("sums['a'] = sums['a'] + loss", {"sums"}),
        ("out = net(x)", set()),
        ("%time total += loss", set()),
    ],
)
def test_a_name_that_is_made_of_itself_is_led_on(source: str, names: set[str]) -> None:
    assert led_on([source]) == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("del a, b[0], c.d", {"a"}),
        ("if done:\n    x = None", {"x"}),
        ("x = y = None", {"x", "y"}),
        ("x: int = None", set()),
        ("def f():\n    del a", set()),
        ("del (", set()),
    ],
)
def test_only_names_that_the_cell_itself_lets_go_of_are_found(source: str, names: set[str]) -> None:
    assert names_let_go(source) == names


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("net.head = Linear(8, 2)", {"net": "net.head"}),
        ("nets['a'].layers[0] = None", {"nets": "nets['a'].layers[0]"}),
        ("del page.tree", {"page": "page.tree"}),
        ("for net in nets:\n    net.head = Linear(8, 2)", {"net": "net.head"}),
        ("net.a = net.b = net.c = None", {"net": "net.a and others"}),
        ("net = Linear(8, 2)", {}),
        ("total[0] += 1", {}),
        ("load(net).head = None", {}),
        ("def f(net):\n    net.head = None", {}),
        ("net.head = (", {}),
    ],
)
def test_only_parts_that_the_cell_itself_replaces_are_found(
    source: str, parts: dict[str, str]
) -> None:
    assert parts_replaced(source) == parts


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("loss.backward(retain_graph=True)", {"loss"}),
        ("(loss / 2).backward(retain_graph=True)", {"loss"}),
        ("torch.autograd.backward(loss, retain_graph=True)", {"loss"}),
        ("g = autograd.grad(loss, x, retain_graph=True)", {"loss"}),
        ("loss.backward(retain_graph=False)", set()),
        ("loss.backward(retain_graph=flag)", set()),
        ("y[i].backward(retain_graph=True)", set()),
        ("last = step(x)", {"last"}),
        ("last = other(x)", set()),
    ],
)
def test_what_was_led_back_and_retained_is_known_by_name(source: str, names: set[str]) -> None:
    assert led_back_with_retain_graph([source], [FUNCTION, source]) == names
