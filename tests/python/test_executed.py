"""What the source of cells says of names."""

from __future__ import annotations

import pytest
from xleak.shell.holders.executed import (
    definitions_around,
    led_back_with_retain_graph,
    led_on,
    made_for_names_let_go,
    names_bound,
    names_let_go,
    parts_let_go,
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
    ("source", "parts"),
    [
        ("index.rows = index.ids = None", {"index": ["index.rows", "index.ids"]}),
        ("del index.rows, pages[0]", {"index": ["index.rows"], "pages": ["pages[0]"]}),
        ("index.rows = load()", {}),
        ("def f(index):\n    index.rows = None", {}),
    ],
)
def test_of_parts_only_those_that_are_deleted_or_none_are_let_go(
    source: str, parts: dict[str, list[str]]
) -> None:
    assert parts_let_go(source) == parts


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a, (b, *c) = load()", {"a", "b", "c"}),
        ("for k in keys:\n    x = k\n    y += k", {"x", "y"}),
        ("print(n := len(keys))", {"n"}),
        ("net.head = load()", set()),
        ("def f():\n    x = 1", set()),
    ],
)
def test_the_variable_of_a_loop_is_not_bound_by_the_cell(source: str, names: set[str]) -> None:
    assert names_bound(source) == names


def test_what_is_made_for_a_name_that_the_same_code_deletes_has_its_lines_and_its_source() -> None:
    source = """def load(k):
    part = read(k)
    kept = read(0)
    del part
    return kept
for k in keys:
    month = pick(
        load(k))
    other = None
    del month, k
"""
    found = [(it.name, it.lines, it.value) for it in made_for_names_let_go(source)]
    assert sorted(found) == [
        ("month", range(7, 9), "pick(load(k))"),
        ("part", range(2, 3), "read(k)"),
    ]
    assert definitions_around(source, 2) == {"load"}
    assert definitions_around(source, 7) == set()


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
