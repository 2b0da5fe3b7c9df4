"""The largest tensors as a table."""

from __future__ import annotations

from collections.abc import Sequence

from xleak.panel.answers import dtype_name
from xleak.render.escape import escape
from xleak.render.table import printable
from xleak.render.units import human_bytes
from xleak.shell.live_tensors import LiveTensor

HEADER = ("tensor", "bytes", "shape", "type", "device", "cell", "contiguous")
_NUMERIC = frozenset({"bytes", "cell"})
_NAMES_SHOWN = 3
_ANSWERS = {"contiguous": "yes", "channels last": "channels last", "strided": "no", "": "?"}


def plain(tensors: Sequence[LiveTensor]) -> str:
    """One line a storage; empty without any."""
    if not tensors:
        return ""
    lines = [HEADER, *map(_row, tensors)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(HEADER))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in _NUMERIC else cell.ljust(width)
            for cell, column, width in zip(line, HEADER, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def fragment(tensors: Sequence[LiveTensor]) -> str:
    """The same as HTML, in the style that the report's fragment brings."""
    if not tensors:
        return ""
    head = "".join(_cell("th", column, column) for column in HEADER)
    body = "".join(
        "<tr>"
        + "".join(_cell("td", cell, column) for cell, column in zip(_row(it), HEADER, strict=True))
        + "</tr>"
        for it in tensors
    )
    return (
        '<div class="xleak"><p class="legend">The largest tensors</p><div class="scroll">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def _row(it: LiveTensor) -> tuple[str, ...]:
    names = it.names[:_NAMES_SHOWN]
    layouts = [_ANSWERS[layout] for _, layout in names]
    # One word where all say the same, else one for each name.
    contiguous = layouts[0] if len(set(layouts)) == 1 else ", ".join(layouts)
    more = f" and {len(it.names) - len(names)} more" if len(it.names) > len(names) else ""
    return (
        (", ".join(printable(name) for name, _ in names) or "(no name)") + more,
        human_bytes(it.bytes),
        "×".join("?" if size < 0 else str(size) for size in it.shape) or "scalar",
        dtype_name(it.dtype),
        it.device,
        "" if it.cell is None else str(it.cell),
        contiguous or "?",
    )


def _cell(tag: str, text: str, column: str) -> str:
    style = ' class="number"' if column in _NUMERIC else ""
    return f"<{tag}{style}>{escape(text)}</{tag}>"
