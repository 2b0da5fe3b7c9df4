"""Entries of rows that no cell reads, beside others that are read."""

from __future__ import annotations

import pytest
from shells import MIB, Session

ROWS = {
    "dict": ('{"score": k, "wave": wave(k)}', 'r["score"]', 'r["wave"]'),
    "tuple": ("(k, wave(k))", "r[0]", "r[1]"),
    "record": ("Row(k, wave(k))", "r.score", "r.wave"),
}
START = """
import numpy as np
from collections import namedtuple
Row = namedtuple("Row", "score wave")
def wave(k): return np.random.default_rng(k).normal(size=200_000)
rows = []
"""


def unread(session: Session, *cells: str) -> dict[str, tuple[int, str]]:
    for cell in cells:
        assert session.run(cell)
    session.shell.run_line_magic("leakcheck", "")
    found = [it for it in session.watcher.findings() if it.code == "XL424"]
    return {it.key: ((it.bytes or 0) // MIB, it.fixes[0].code or "") for it in found}


@pytest.mark.parametrize("kind", ROWS)
def test_what_no_cell_reads_of_rows_is_reported_until_it_is_let_go(
    session: Session, kind: str
) -> None:
    row, score, _ = ROWS[kind]
    fill = f"for k in range(4): rows.append({row})"
    [(name, (size, code))] = unread(session, START, fill, f"print([{score} for r in rows])").items()
    assert (name, size) == ("rows", 6)
    assert unread(session, code) == {}
    assert session.run(f"assert [{score} for r in rows] == [0, 1, 2, 3]")


@pytest.mark.parametrize("kind", ROWS)
def test_the_cell_that_fills_them_may_read_the_others(session: Session, kind: str) -> None:
    row, score, _ = ROWS[kind]
    fill = f"for k in range(4): rows.append({row})\nbest = max(rows, key=lambda r: {score})"
    assert list(unread(session, START, fill, "del best", "print('on')")) == ["rows"]


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize(
    "later",
    [
        "print([{wave}[0] for r in rows])",
        "print([{score} for r in rows]); waves = [{wave} for r in rows]",
        "print([{score} for r in rows]); rows",
        "for score, wave in (r if type(r) is not dict else r.values() for r in rows): print(wave[0])",
        "print('nothing of them')",
    ],
)
def test_what_is_read_or_wholly_unused_is_silent(session: Session, kind: str, later: str) -> None:
    row, score, wave = ROWS[kind]
    fill = f"for k in range(4): rows.append({row})"
    assert unread(session, START, fill, later.format(score=score, wave=wave)) == {}
