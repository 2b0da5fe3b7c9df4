"""What code does with an object of a library, by its source."""

from __future__ import annotations

import pytest
from xleak.shell.holders.library_uses import binds, hands_over, mentions


@pytest.mark.parametrize(
    ("code", "reads"),
    [
        ("ax.set_title('x')", [False]),
        ("fig.canvas.mpl_connect('pick_event', f)", [False]),
        ("log.addHandler(ax)", [False, False]),
        ("log.propagate = False", [False]),
        ("hits = ax.search(q)", [True]),
        ("print(ax)", [True]),
        ("ax['a'] = x", [True]),
        ("fig", [True]),
        ("ax = make()", []),
        ("other.search(q)", []),
    ],
)
def test_a_dropped_call_is_a_command_and_all_else_a_read(code: str, reads: list[bool]) -> None:
    assert [it.reads for it in mentions(code, {"ax", "fig", "log"})] == reads


def test_a_mention_says_its_function_and_to_which_it_is_handed() -> None:
    [it] = mentions("def draw(z):\n    show(ax, z)", {"ax"})
    assert (it.function, it.to, it.lines) == ("draw", "show", range(2, 3))


def test_what_a_function_binds_the_cell_does_not() -> None:
    assert binds("if x:\n    ax = 1", "ax")
    assert not binds("def f():\n    ax = 1", "ax")


@pytest.mark.parametrize(
    ("code", "is_handed_over"),
    [
        ("frame = read()", True),
        ("stack.enter_context(open_(path))", True),
        ("def f():\n    return stack.enter(path)", True),
        ("optimizer.step()", False),
        ("model.fit(x, y)", False),
    ],
)
def test_what_a_command_without_a_made_argument_makes_is_the_librarys(
    code: str, is_handed_over: bool
) -> None:
    assert hands_over(code, code.count("\n") + 1) is is_handed_over
