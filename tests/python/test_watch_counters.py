"""At which steps the counters of a loop are read, by a scripted clock."""

from __future__ import annotations

import pytest
from xleak.watching import counters
from xleak.watching.counters import Sampled
from xleak.watching.series import Series

MILLISECOND = 1e-3


class Loop:
    """Steps that take so many seconds each, and a counter whose reading takes some too."""

    def __init__(self, step_seconds: float, reading_seconds: float) -> None:
        self.seconds = 0.0
        self.reading = 0.0
        self.read_at: list[int] = []
        self._step = 0
        self._interrupted = 0
        self._step_seconds, self._reading_seconds = step_seconds, reading_seconds
        self._counter = Sampled(self._read)

    def thread_time(self) -> float:
        return self.seconds + self.reading

    def interrupt_at(self, step: int) -> None:
        """The first reading from this step on takes a hundred milliseconds."""
        self._interrupted = step

    def run(self, steps: int) -> None:
        for step in range(1, steps + 1):
            self._step = step
            self.seconds += self._step_seconds
            if self._counter.at(step) is not None:
                self.read_at.append(step)

    def _read(self) -> int:
        self.reading += self._reading_seconds
        if 0 < self._interrupted <= self._step:
            self._interrupted = 0
            self.reading += 100 * MILLISECOND
        return 0


def run(
    monkeypatch: pytest.MonkeyPatch, step_seconds: float, reading_seconds: float, steps: int
) -> Loop:
    loop = Loop(step_seconds, reading_seconds)
    monkeypatch.setattr(counters, "time", loop)
    loop.run(steps)
    return loop


def test_a_reading_of_a_tenth_of_a_millisecond_takes_a_thousandth_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = run(monkeypatch, 10 * MILLISECOND, 0.1 * MILLISECOND, 5000)
    assert loop.reading <= loop.seconds / 1000


def test_a_dear_reading_takes_no_more_than_two_thousandths(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = run(monkeypatch, 10 * MILLISECOND, 5 * MILLISECOND, 5000)
    assert len(loop.read_at) >= 8
    assert loop.reading <= loop.seconds / 500


def test_the_first_steps_are_all_read_and_some_while_their_number_doubles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = run(monkeypatch, 0.001 * MILLISECOND, 0.1 * MILLISECOND, 16_384)
    assert loop.read_at[:16] == list(range(1, 17))
    doublings = [sum(n < step <= 2 * n for step in loop.read_at) for n in (64, 512, 4096)]
    assert all(8 <= number <= 20 for number in doublings)


def test_one_reading_that_was_interrupted_makes_the_next_no_rarer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = Loop(0.001 * MILLISECOND, 0.1 * MILLISECOND)
    monkeypatch.setattr(counters, "time", loop)
    loop.interrupt_at(60)
    loop.run(150)
    assert sum(75 < step <= 150 for step in loop.read_at) >= 8


def test_steps_that_take_a_second_are_all_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, 1.0, 0.1 * MILLISECOND, 300).read_at == list(range(1, 301))


def test_a_rhythm_of_the_loop_is_never_read_as_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = run(monkeypatch, 0.001 * MILLISECOND, 0.1 * MILLISECOND, 4000).read_at
    slow = run(monkeypatch, 10 * MILLISECOND, 0.1 * MILLISECOND, 4000).read_at
    for read_at in (quick, slow):
        for period in range(2, 1000):
            series = Series()
            for step in read_at:
                series.add(step, step % period * 1000)
            assert series.growth() is None, period
