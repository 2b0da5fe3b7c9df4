"""Tables that keep categories which none of their rows has."""

from __future__ import annotations

import pytest
from shells import Session

START = """
import numpy as np
import pandas as pd
def load(count=250_000, rows=400_000):
    texts = pd.Index([f"account {k:020d}" for k in range(count)], dtype=object)
    codes = np.arange(rows) % count
    return pd.DataFrame({"who": pd.Categorical.from_codes(codes, texts), "paid": np.ones(rows)})
"""


@pytest.mark.parametrize(
    ("name", "part"), [("part", "table.head(50).copy()"), ("names", "table['who'].head(50).copy()")]
)
def test_a_few_rows_with_all_categories_are_reported_until_these_go(
    session: Session, name: str, part: str
) -> None:
    cells = [START, f"table = load()\n{name} = {part}", "del table", "print('on')"]
    [(place, (size, repair))] = session.reported("XL118", *cells).items()
    assert place == name
    assert size >= 16
    assert session.reported("XL118", repair) == {}
    assert session.run(f"assert '{0:020d}' in {name}.to_string()")


@pytest.mark.parametrize(
    "cells",
    [
        [START, "table = load(); part = table.head(50).copy()", "print(len(table))"],
        [START, "table = load()", "print(len(table))"],
        [START, "part = load(20).head(50)", "print(len(part))"],
    ],
)
def test_categories_that_rows_have_or_another_table_needs_are_silent(
    session: Session, cells: list[str]
) -> None:
    assert session.reported("XL118", *cells) == {}
