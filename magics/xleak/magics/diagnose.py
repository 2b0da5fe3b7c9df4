"""`%leakcheck --diagnose`: the diagnosis of the session, shown."""

from __future__ import annotations

import json

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from xleak.magics.live import cell_sources, live_verdict, live_watcher
from xleak.magics.profiled_cell import ProfiledCells, is_profiled, without_mark
from xleak.shell.cell_notes import CellNotes
from xleak.shell.watcher import watcher


class Diagnoser:
    """Follows the cells for what a diagnosis is to know of them."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._notes = CellNotes()
        self._profiled = ProfiledCells()
        shell.input_transformers_cleanup.append(without_mark)
        watching = watcher()
        if watching is not None:
            watching.before_run.append(self._profiled.before_run)
            # The profiler is stopped first: what it sees is the cell's.
            watching.after_account.append(self._profiled.after_account)
            watching.after_account.append(self._notes.after_cell)
            watching.after_cells.append(self._profiled.after_cell)
            watching.showing.append(is_profiled)

    def show(self, as_json: bool) -> None:
        """Prints or displays the diagnosis. Runs nothing of the user's."""
        # More to import than a kernel should wait for at its start.
        from xleak.diagnosis.evidence import collect
        from xleak.diagnosis.walk import to_json, walk
        from xleak.render import diagnosis as render

        verdict = live_verdict()
        sources = cell_sources(self._shell, verdict)
        evidence = collect(live_watcher(), verdict, sources, self._notes, self._profiled)
        told = walk(evidence)
        if as_json:
            print(json.dumps(to_json(told), indent=2))
        else:
            shown = {"text/plain": render.plain(told), "text/html": render.fragment(told)}
            display(shown, raw=True)
