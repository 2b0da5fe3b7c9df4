"""One bar a cell: what it kept as a bar from zero, how high it went above its start as a tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xleak.render.units import human_bytes, signed_bytes
from xleak.verdict import Cell

_WIDTH = 1000.0


@dataclass(frozen=True)
class Scale:
    """The range in bytes that all bars of one report share; it holds zero."""

    low: int
    high: int

    def x(self, size: int) -> float:
        """Where a size lies on a bar that is 1000 wide."""
        return round((size - self.low) / (self.high - self.low) * _WIDTH, 1)


def scale(cells: Sequence[Cell]) -> Scale:
    """The scale on which every cell's bar and tick fits."""
    sizes = [size for cell in cells for size in (cell.host.bar_bytes, climb_bytes(cell))]
    known = [size for size in sizes if size is not None]
    low, high = min([0, *known]), max([0, *known])
    return Scale(low, high if high > low else low + 1)


def climb_bytes(cell: Cell) -> int | None:
    """The peak of the resident memory above where the cell began."""
    peak, before = cell.host.resident_peak_bytes, cell.host.resident_before_bytes
    return None if peak is None or before is None else peak - before


def svg(cell: Cell, on: Scale) -> str:
    """The cell's bar as inline SVG; empty where nothing is known."""
    kept, climb = cell.host.bar_bytes, climb_bytes(cell)
    if kept is None and climb is None:
        return ""
    label = f"kept {signed_bytes(kept)}, peak {human_bytes(climb)} above its start"
    return (
        f'<svg viewBox="0 0 {_WIDTH:.0f} 18" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}"><title>{label}</title>{_bar(kept, on)}'
        f"{_vertical('zero', on.x(0), 0, 18)}"
        f"{_vertical('tick', on.x(climb), 2, 16) if climb is not None else ''}</svg>"
    )


def _bar(kept: int | None, on: Scale) -> str:
    if not kept:
        return ""
    start, end = sorted((on.x(0), on.x(kept)))
    kind = "kept" if kept > 0 else "freed"
    return f'<rect class="{kind}" x="{start}" y="4" width="{round(end - start, 1)}" height="10"/>'


def _vertical(kind: str, x: float, top: int, bottom: int) -> str:
    return f'<line class="{kind}" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>'
