"""What pandas' tables carry beside their data."""

from __future__ import annotations

import pytest
from shells import Session

START = """
import numpy as np
import pandas as pd
def load():
    table = pd.DataFrame(np.ones((300, 8)), columns=list("abcdefgh"))
    table.attrs["raw"] = np.ones(500_000)
    return table
table = load()
"""
CUT = "parts = {k: table[[k]].head() for k in 'abc'}"
REPAIR = "[v.attrs.clear() for v in parts.values()];"


def test_what_selections_carry_is_reported_until_it_is_let_go(session: Session) -> None:
    cells = [START, CUT, "print([len(part) for part in parts.values()])"]
    assert session.reported("XL424", *cells) == {"parts": (11, REPAIR)}
    assert session.reported("XL424", REPAIR) == {}
    assert session.run("assert [len(part) for part in parts.values()] == [5, 5, 5]")


def test_what_pictures_carry_in_rows_is_reported_too(session: Session) -> None:
    start = """
from PIL import Image
def small(k):
    picture = Image.new("L", (200, 200))
    picture.info["log"] = str(k) * 1_000_000
    return picture.resize((20, 20))
"""
    cells = [start, "rows = [(k, small(k)) for k in range(3)]", "print(rows[0][1].size)"]
    repair = "; ".join(f"rows[{k}][1].info.clear()" for k in range(3)) + ";"
    assert session.reported("XL424", *cells) == {"rows": (2, repair)}
    assert session.reported("XL424", repair) == {}


@pytest.mark.parametrize(
    "cells",
    [
        [START, CUT, "print(parts['a'].attrs['raw'][0])"],
        ["def raw(of):\n    return of.attrs['raw'][0]", START, CUT, "print(raw(parts['a']))"],
        [START, "part = table[['a']]", "print(len(part))"],
        [START.replace("500_000", "5"), CUT, "print(len(parts))"],
    ],
)
def test_what_is_read_small_or_single_is_silent(session: Session, cells: list[str]) -> None:
    assert session.reported("XL424", *cells) == {}
