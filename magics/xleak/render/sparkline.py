"""A size over time as one line of text."""

from __future__ import annotations

from collections.abc import Sequence

_LEVELS = "▁▂▃▄▅▆▇█"


def sparkline(points: Sequence[tuple[float, int]], width: int = 60) -> str:
    """One bar for each stretch of time, as high as the largest size in it; from zero to the largest.

    points: (seconds, bytes) in their order. A stretch without a point is as the one before it.
    """
    if not points:
        return ""
    start, end = points[0][0], points[-1][0]
    if end <= start:
        return _LEVELS[-1]
    bars: list[int | None] = [None] * width
    for seconds, size in points:
        at = min(width - 1, int((seconds - start) / (end - start) * width))
        bars[at] = max(size, bars[at] or 0)
    largest = max(size for _, size in points) or 1
    shown, last = "", 0
    for bar in bars:
        last = last if bar is None else bar
        shown += _LEVELS[round(last / largest * (len(_LEVELS) - 1))]
    return shown
