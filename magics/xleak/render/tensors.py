"""The largest tensors as a table."""

from __future__ import annotations

from collections.abc import Sequence

from xleak.panel.answers import dtype_name
from xleak.render import columns
from xleak.render.table import printable
from xleak.render.units import human_bytes
from xleak.shell.live_tensors import LiveTensor

HEADER = ("tensor", "bytes", "shape", "type", "device", "cell", "contiguous")
_NUMERIC = frozenset({"bytes", "cell"})
_NAMES_SHOWN = 3
_ANSWERS = {"contiguous": "yes", "channels last": "channels last", "strided": "no", "": "?"}


def plain(tensors: Sequence[LiveTensor]) -> str:
    """One line a storage; empty without any."""
    return columns.plain(HEADER, [*map(_row, tensors)], _NUMERIC) if tensors else ""


def fragment(tensors: Sequence[LiveTensor]) -> str:
    """The same as HTML, in the style that the report's fragment brings."""
    if not tensors:
        return ""
    return columns.fragment("The largest tensors", HEADER, [*map(_row, tensors)], _NUMERIC)


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
