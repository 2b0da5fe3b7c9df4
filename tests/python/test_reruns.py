"""What is taken for a cell that runs again, and for a name that it binds again."""

from __future__ import annotations

import pytest
from xleak.shell.holders.doubled_peaks import bound_anew
from xleak.shell.holders.reruns import ran_before


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("x = load()", ["x"]),
        ("rate = 1\nx = load(rate)", ["x"]),
        ("del x\nx = load()", []),
        ("x = None\nx = load()", []),
        ("x = load(x)", []),
        ("x = x.copy()", []),
        ("x = other", []),
        ("x = y = load()", []),
        ("x, y = load()", []),
        ("for i in range(3): x = load()", []),
        ("def f(): x = load()", []),
        ("%time x = load()", []),
        ("x = load(\n", []),
        ("x.y = load()", []),
    ],
)
def test_a_name_is_bound_anew_by_a_plain_call_without_its_old_value(
    source: str, names: list[str]
) -> None:
    assert bound_anew(source) == names


def test_a_cell_ran_before_where_its_code_did_but_for_comments_and_blank_lines() -> None:
    sources = {1: "# first\nx = load()", 2: "y = 1", 3: "# again\n\nx = load() ", 4: "x = load(2)"}
    assert [cell for cell in sources if ran_before(cell, sources)] == [3]
