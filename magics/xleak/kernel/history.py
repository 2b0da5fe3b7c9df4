"""IPython's history, written to its file beside the cells."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any

from IPython.core import history

from xleak import _kernel, _native
from xleak.originals import threading


class _AtRest:
    """In the place of a threading.Event: wakes the thread that writes once no cell stands still for it."""

    def __init__(self, thread: history.HistorySavingThread) -> None:
        self._signal = _kernel.RestSignal()
        self._thread = thread
        self.clear, self.wait = self._signal.clear, self._signal.wait

    @_native.out_of_sight
    def set(self) -> None:
        # os.fork() and the end of the kernel wait for the end of the thread.
        self._signal.set(self._thread._stop_now)


class HistoryManager(history.HistoryManager):
    """A cell does not wait until the source of the one before is on disk.

    IPython's own holds the lock that each cell takes to note its source until the disk has written. The
    name is IPython's, so users configure this class as they know it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # IPython's thread may write before its __init__ returns.
        self._writing = threading.Lock()
        super().__init__(*args, **kwargs)
        self._write_at_rest()

    @_native.out_of_sight
    def _restart_thread_if_stopped(self) -> None:
        was = self.save_thread
        super()._restart_thread_if_stopped()
        if self.save_thread is not was:
            self._write_at_rest()

    def _write_at_rest(self) -> None:
        """The thread's Python takes the GIL from the cell whose source it writes, and each write to the disk takes half
        as long as a trivial cell: the sources of cells that follow one another are written together."""
        thread = self.save_thread
        # IPython 8 keeps the event elsewhere.
        if thread is not None and hasattr(thread, "save_flag"):
            before, thread.save_flag = thread.save_flag, _AtRest(thread)
            before.set()

    @_native.out_of_sight
    def writeout_cache(self, conn: sqlite3.Connection | None = None) -> None:
        """Writes what has been noted. One thread at a time, in the order of the cells."""
        with self._writing:
            if self.enabled and not self._write_inputs(self.db if conn is None else conn):
                # Another session has these numbers: IPython starts a new one, and says so.
                super().writeout_cache(conn)
            elif self.db_output_cache:
                super().writeout_cache(conn)

    def _write_inputs(self, conn: sqlite3.Connection) -> bool:
        with self.db_input_cache_lock:
            lines = list(self.db_input_cache)
            self.db_input_cache.clear()
        if not lines:
            return True
        rows = [(self.session_number, *line) for line in lines]
        try:
            # A cursor resets its statement, which the connection keeps for the next one, when it goes. Who looks at
            # all objects may have it then, on another thread.
            with conn, contextlib.closing(conn.cursor()) as cursor:
                cursor.executemany("INSERT INTO history VALUES (?, ?, ?, ?)", rows)
        except sqlite3.Error as error:
            with self.db_input_cache_lock:
                self.db_input_cache[:0] = lines
            if isinstance(error, sqlite3.IntegrityError):
                return False
            raise
        return True
