"""What the source of the session suspects, for a measurement that alone would be no proof."""

from __future__ import annotations

from collections.abc import Mapping

from xleak import source


class Suspicion:
    """Whether one rule tells of the cells, or of the files that they import, in more than a note."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._cells = 0
        self._holds = False

    def holds(self, sources: Mapping[int, str]) -> bool:
        """Reads the cells again where there are more. sources: as Look has them."""
        if len(sources) != self._cells:
            self._cells = len(sources)
            read = source.lint_cells(list(dict.fromkeys(sources.values())))
            found = [*read.report.findings, *(it for m in read.modules for it in m.report.findings)]
            self._holds = any(it.code == self._code and it.severity != "note" for it in found)
        return self._holds
