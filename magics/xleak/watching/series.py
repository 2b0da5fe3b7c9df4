"""Whether a number grows steadily with the steps of a loop."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# Points that are kept: 2,000 pairs are compared in well under a millisecond.
_MOST_POINTS = 64
# Of the steps, as a share: caches fill, optimizers make their state, allocators take their pools.
_WARM_UP = 0.25
# Fewer that all rise do so by chance more often than once in a hundred runs.
LEAST_POINTS = 5
# A row this short must rise without a break.
_SHORT = 10
# Kendall's tau: the share of pairs that rise less the share of those that fall.
_RISING = 0.8
# The last third must rise at least so fast as the whole: what has filled up does not.
_TAIL = 0.5


@dataclass(frozen=True)
class Growth:
    """Steady growth. Sizes in bytes."""

    per_step: float
    """Theil and Sen's slope: the median over all pairs of points."""
    bytes: int
    """Over the steps that were judged."""
    since_step: int
    steps: int


class Series:
    """The lowest value of each few steps, so that what comes and goes is not seen; at most 64 of
    them however long the loop is."""

    def __init__(self) -> None:
        self._points: list[tuple[int, int]] = []
        self._width = 1

    def add(self, step: int, value: int) -> None:
        """Steps come in order; some may be left out."""
        if self._points and step // self._width == self._points[-1][0] // self._width:
            self._points[-1] = (self._points[-1][0], min(value, self._points[-1][1]))
            return
        self._points.append((step, value))
        if len(self._points) > _MOST_POINTS:
            self._width *= 2
            self._points = [
                min(group, key=lambda point: point[1])
                for _, group in itertools.groupby(self._points, lambda it: it[0] // self._width)
            ]

    def growth(self) -> Growth | None:
        """None where it does not grow, or nobody can tell yet."""
        if not self._points:
            return None
        first, last = self._points[0][0], self._points[-1][0]
        since = first + (last - first + 1) * _WARM_UP
        return steady_growth([point for point in self._points if point[0] >= since])


def steady_growth(points: Sequence[tuple[int, int]]) -> Growth | None:
    """Of (step, bytes) after the warm-up."""
    # Most never grow, and all pairs of points are many.
    if len(points) < LEAST_POINTS or points[-1][1] <= points[0][1]:
        return None
    pairs = list(itertools.combinations(points, 2))
    rises = sum((b > a) - (b < a) for (_, a), (_, b) in pairs)
    if rises < len(pairs) * (1.0 if len(points) < _SHORT else _RISING):
        return None
    slope = statistics.median((b - a) / (j - i) for (i, a), (j, b) in pairs)
    (begin, _), (end, highest) = points[0], points[-1]
    # Of the steps: points lie closer together at the beginning.
    third = next(it for it in reversed(points[:-2]) if it[0] <= end - (end - begin) / 3)
    if slope <= 0 or highest - third[1] < _TAIL * slope * (end - third[0]):
        return None
    return Growth(slope, round(slope * (end - begin)), begin, end - begin)
