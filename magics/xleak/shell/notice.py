"""The one line that a session shows of its leaks."""

from __future__ import annotations

import html
import uuid
from typing import TYPE_CHECKING

from IPython.display import display

from xleak import _native
from xleak.cell_names import name_of_run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

# More entries would not fit on a line.
_ENTRIES_SHOWN = 3


class Notice:
    """Shown once, below the cell that made a leak worth a line, and kept up to date there."""

    def __init__(self, shell: InteractiveShell) -> None:
        # A terminal cannot change what it has printed.
        self._can_update = hasattr(shell, "kernel")
        self._display_id = f"xleak-{uuid.uuid4().hex}"
        self._shown: str | None = None

    def tell(self, findings: list[_native.Finding], least_bytes: int) -> None:
        """Shows or updates the line, where there is something new to say."""
        total = sum(finding.bytes or 0 for finding in findings)
        if self._shown is None and (total < least_bytes or not findings):
            return
        text = notice_text(findings)
        if text == self._shown:
            return
        first = self._shown is None
        self._shown = text
        if first or self._can_update:
            data = {"text/plain": text, "text/html": f"<code>{html.escape(text)}</code>"}
            display(data, raw=True, display_id=self._display_id, update=not first)


def notice_text(findings: list[_native.Finding]) -> str:
    """One line: what leaks, the largest first, and what to type."""
    if not findings:
        return "xleak: what was reported here has been released."
    if len(findings) == 1:
        cell = findings[0].cause_cell or findings[0].cell
        return f"xleak {findings[0].code} {name_of_run(cell)}: {findings[0].message}"
    total = _native.human(sum(finding.bytes or 0 for finding in findings))
    first = findings[:_ENTRIES_SHOWN]
    shown = ", ".join(f"{f.key} {_native.human(f.bytes)}" for f in first if f.bytes is not None)
    rest = f" and {more} more" if (more := len(findings) - _ENTRIES_SHOWN) > 0 else ""
    codes = ", ".join(sorted({finding.code for finding in findings}))
    free = f"Free the largest with `{findings[0].fixes[0].code}`; " if findings[0].fixes else ""
    return (
        f"xleak {codes}: {total} that no name reaches, kept by {shown}{rest}. "
        f"{free}`%leakcheck` lists them."
    )
