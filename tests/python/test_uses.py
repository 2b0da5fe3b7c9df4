"""Which names a cell uses."""

from __future__ import annotations

import pytest
from xleak.shell.holders.uses import Uses


@pytest.mark.parametrize(
    ("source", "is_use"),
    [
        ("price.mean()", True),
        ("table.query('total > @price')", True),
        ("globals()['price']", True),
        ("eval('price')", True),
        ("table['price'].mean()", False),
        ("table[['price', 'rank']].mean()", False),
        ("table.loc[rows, 'price']", False),
        ("table = Table({'price': 1})", False),
    ],
)
def test_a_key_or_a_column_is_no_use_of_the_name(source: str, is_use: bool) -> None:
    assert ("price" in Uses().of(source)) is is_use
