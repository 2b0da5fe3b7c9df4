"""The live session, as the magics show it."""

from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from xleak.shell.watcher import Watcher, watcher
from xleak.verdict import Verdict, session_verdict


def live_watcher() -> Watcher:
    """What watches this session. Raises UsageError where nothing does."""
    watching = watcher()
    if watching is None:
        raise UsageError("xleak does not watch this session; %load_ext xleak starts it")
    return watching


def live_verdict(
    names: bool = False, with_dismissed: bool = True, settled: bool = False
) -> Verdict:
    """The session's verdict now, in the middle of a cell. names: with the names that hold most. settled: as if one more
    quiet cell had ended. Raises UsageError where there is none."""
    if not settled:
        live_watcher().refresh()
    return session_verdict(names, with_dismissed, settled=settled)


def cell_sources(shell: InteractiveShell, verdict: Verdict) -> dict[int, str]:
    """The code of the cells as the user typed it, by index; cells without a prompt are left out."""
    history = shell.history_manager
    typed = [] if history is None else history.input_hist_raw
    return {
        cell.index: typed[cell.execution_count]
        for cell in verdict.cells
        if cell.execution_count is not None and cell.execution_count < len(typed)
    }
