"""IPython's history: written beside the cells, in their order."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from harness import Session

# Its lock is what a write to a slow disk holds.
HOLD = """
import sqlite3, threading
blocked = sqlite3.connect(get_ipython().history_manager.hist_file)
blocked.execute('BEGIN IMMEDIATE');
"""


def test_a_cell_does_not_wait_until_the_one_before_is_on_the_disk(fresh_kernel: Session) -> None:
    kernel = fresh_kernel
    file = Path(kernel.value("str(get_ipython().history_manager.hist_file)").strip("'"))
    number = kernel.value("get_ipython().history_manager.session_number")
    kernel.run(HOLD)
    # SQLite waits five seconds for a lock, which is as long as a cell would take.
    for value in range(3):
        kernel.run(f"noted = {value}")
    assert kernel.value("len(In)") == "8"
    kernel.run("blocked.rollback()")
    # Who asks for the history has all of it.
    assert "noted = 2" in kernel.run("%history -g noted").text()
    rows = sqlite3.connect(file).execute(
        "SELECT line, source FROM history WHERE session = ? ORDER BY rowid", (number,)
    )
    lines = [(line, source) for line, source in rows if source.startswith("noted")]
    assert [source for _, source in lines] == ["noted = 0", "noted = 1", "noted = 2"]
    assert [line for line, _ in lines] == sorted(line for line, _ in lines)
