"""`%memreport`: what the cells of the session did to memory."""

from __future__ import annotations

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class
from IPython.display import display

from xleak.magics.live import cell_sources, live_verdict
from xleak.render import html, table, text


@magics_class
class MemreportMagic(Magics):
    """Shows the session by cell."""

    @line_magic
    def memreport(self, line: str) -> None:
        """Show what each cell of the session kept, its peak, and the totals."""
        if line.strip():
            raise UsageError(f"%memreport takes no arguments, got {line.strip()!r}")
        verdict = live_verdict()
        if not verdict.cells:
            print("No cell has ended yet, so there is nothing to report.")
            return
        sources = cell_sources(self.shell, verdict)
        plain = f"{text.cell_table(verdict, sources)}\n\n{table.totals(verdict)}"
        display({"text/plain": plain, "text/html": html.fragment(verdict, sources)}, raw=True)
