"""What each line of the notebook made and keeps, as a table."""

from __future__ import annotations

from pathlib import PurePath

from xleak.cell_names import cell_name
from xleak.render import columns
from xleak.render.table import printable, shorten
from xleak.render.units import counted, human_bytes
from xleak.shell.lines import LineAccount, LineUse

HEADER = ("kept", "peak", "where", "source")
_NUMERIC = frozenset({"kept", "peak"})
_SHOWN = 20
_SOURCE_WIDTH = 60
_NOTHING = "No line has made a block of 64 KiB or more that is alive, or was at the peak of a cell."


def plain(account: LineAccount) -> str:
    """One line each, most kept first, and a sentence for the rest."""
    if not account.lines:
        return _NOTHING
    table = columns.plain(HEADER, [*map(_row, account.lines[:_SHOWN])], _NUMERIC)
    return "\n".join([table, *_rest(account)])


def _row(it: LineUse) -> tuple[str, ...]:
    where = PurePath(it.file).name if it.cell is None else cell_name(0, it.cell)
    return (
        human_bytes(it.kept_bytes),
        human_bytes(it.peak_bytes),
        printable(f"{where}, line {it.line}"),
        shorten(printable(it.source), _SOURCE_WIDTH),
    )


def _rest(account: LineAccount) -> list[str]:
    rest = account.lines[_SHOWN:]
    lines = []
    if rest:
        kept = human_bytes(sum(it.kept_bytes for it in rest))
        lines.append(f"and {counted(len(rest), 'more line')}, which keep {kept}")
    if account.other_kept_bytes:
        kept = human_bytes(account.other_kept_bytes)
        lines.append(f"{kept} were made where no line of yours ran: by a library's own threads")
    return lines
