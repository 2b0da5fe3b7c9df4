"""Figures that pyplot keeps open."""

from __future__ import annotations

from collections.abc import Iterator

from xleak import _native
from xleak.shell.heap import FIGURES, figures
from xleak.shell.holders.look import LEAST_BYTES, Look


def open_figures(look: Look) -> Iterator[_native.Holder]:
    """All of them as one holder, since one call closes them."""
    held = look.heap.retained_bytes(FIGURES)
    if held >= LEAST_BYTES:
        # Figures are cycles, which wait for the collector.
        release = '__import__("matplotlib.pyplot").pyplot.close("all"); __import__("gc").collect();'
        yield _native.Holder("figures", FIGURES, held, None, "Figure", len(figures()), release)
