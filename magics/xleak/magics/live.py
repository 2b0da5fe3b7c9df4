"""The live session, as the magics show it."""

from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from xleak.verdict import Verdict, session_verdict


def live_verdict() -> Verdict:
    """The session's verdict. Raises UsageError where nothing is watched."""
    try:
        return session_verdict()
    except RuntimeError as unwatched:
        raise UsageError(str(unwatched)) from None


def cell_sources(shell: InteractiveShell, verdict: Verdict) -> dict[int, str]:
    """The code of the cells as the user typed it, by index; cells without a prompt are left out."""
    history = shell.history_manager
    typed = [] if history is None else history.input_hist_raw
    return {
        cell.index: typed[cell.execution_count]
        for cell in verdict.cells
        if cell.execution_count is not None and cell.execution_count < len(typed)
    }
