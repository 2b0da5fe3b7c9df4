"""IPython's history: written beside the cells, in their order."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harness import Session
from xleak.kernel.history import HistoryManager

pytestmark = pytest.mark.each_ipython

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


# Another session would read it so.
READ_BACK = """
import sqlite3, time
file = get_ipython().history_manager.hist_file
while not sqlite3.connect(file).execute("SELECT 1 FROM history WHERE source LIKE '%unmistakable%'").fetchall():
    time.sleep(0.01)
print("read back")
"""


def test_the_source_of_a_cell_is_on_the_disk_while_the_cell_still_runs(kernel: Session) -> None:
    assert kernel.run("# unmistakable" + READ_BACK).text() == "read back\n"


def test_lines_are_written_after_a_fork_as_before(kernel: Session) -> None:
    """IPython ends its thread before a fork, and starts another for the next cell."""
    kernel.run("import os\nif (child := os.fork()) == 0: os._exit(0)\nos.waitpid(child, 0)")
    assert kernel.run("# unmistakable" + READ_BACK).text() == "read back\n"


def test_no_cursor_is_left_open_for_another_thread_to_close() -> None:
    made: list[sqlite3.Cursor] = []

    class Noted(sqlite3.Connection):
        def cursor(self, *kind: Any) -> sqlite3.Cursor:  # type: ignore[override]
            made.append(super().cursor(*kind))
            return made[-1]

    conn = sqlite3.connect(":memory:", factory=Noted)
    conn.execute("CREATE TABLE history (session, line, source, source_raw)")
    made.clear()
    manager: Any = SimpleNamespace(
        session_number=1, db_input_cache=[(1, "a", "a")], db_input_cache_lock=threading.Lock()
    )
    assert HistoryManager._write_inputs(manager, conn)
    assert conn.execute("SELECT * FROM history").fetchall() == [(1, 1, "a", "a")]
    with pytest.raises(sqlite3.ProgrammingError):
        made[0].execute("SELECT 1")
