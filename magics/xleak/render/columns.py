"""Tables of columns, as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence, Set

from xleak.render.escape import escape

Row = Sequence[str]


def plain(header: Row, rows: Sequence[Row], numeric: Set[str]) -> str:
    """One line a row. numeric: the columns that stand at the right."""
    lines = [header, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in numeric else cell.ljust(width)
            for cell, column, width in zip(line, header, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def fragment(legend: str, header: Row, rows: Sequence[Row], numeric: Set[str]) -> str:
    """The same as HTML, in the style that the report's fragment brings."""
    head = "".join(_cell("th", column, column, numeric) for column in header)
    body = "".join(
        "<tr>"
        + "".join(
            _cell("td", cell, column, numeric) for cell, column in zip(row, header, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="xleak"><p class="legend">{escape(legend)}</p><div class="scroll">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def _cell(tag: str, text: str, column: str, numeric: Set[str]) -> str:
    style = ' class="number"' if column in numeric else ""
    return f"<{tag}{style}>{escape(text)}</{tag}>"
