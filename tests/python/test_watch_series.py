"""What counts as steady growth, on numbers alone."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xleak.watching.counters import HEAP, HOST
from xleak.watching.judge import Judge
from xleak.watching.series import Series, steady_growth

KIB, MIB = 1 << 10, 1 << 20


def series_of(values: list[int]) -> Series:
    series = Series()
    for step, value in enumerate(values):
        series.add(step, value)
    return series


def test_what_each_step_adds_is_the_slope() -> None:
    growth = series_of([MIB + 1000 * step for step in range(500)]).growth()
    assert growth is not None
    assert growth.per_step == pytest.approx(1000)
    assert growth.bytes == pytest.approx(1000 * growth.steps, rel=0.05)


def test_a_kibibyte_a_step_is_found_over_thousands_of_steps() -> None:
    noise = random.Random(0)
    growth = series_of([KIB * step + noise.randrange(64 * KIB) for step in range(5000)]).growth()
    assert growth is not None
    assert growth.per_step == pytest.approx(KIB, rel=0.05)


def test_what_leaks_in_every_tenth_step_is_found() -> None:
    growth = series_of([step // 10 * 10_000 for step in range(1000)]).growth()
    assert growth is not None
    assert growth.per_step == pytest.approx(1000, rel=0.1)


@pytest.mark.parametrize("steps", [30, 300, 3000])
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(lambda at: 0, id="constant"),
        pytest.param(lambda at: min(at, 0.2), id="warm-up"),
        pytest.param(lambda at: min(at, 0.5), id="a buffer that is full halfway"),
        pytest.param(lambda at: min(at, 0.7), id="a buffer that is full late"),
        pytest.param(lambda at: at * 10 % 1, id="ten sawteeth"),
        pytest.param(lambda at: at * 3 % 1, id="three sawteeth"),
        pytest.param(lambda at: int(at * 20) % 2, id="train and eval in turn"),
        pytest.param(lambda at: float(at > 0.5), id="one jump"),
        pytest.param(lambda at: 1 - at, id="falling"),
        pytest.param(lambda at: at * (1 - at), id="rising, then falling"),
    ],
)
def test_a_look_alike_does_not_grow(value: object, steps: int) -> None:
    assert callable(value)
    values = [int(100 * MIB * value(step / steps)) for step in range(steps)]
    assert series_of(values).growth() is None


@given(st.lists(st.integers(0, 1000), min_size=64, max_size=400), st.randoms())
def test_noise_without_a_trend_is_no_growth(values: list[int], order: random.Random) -> None:
    order.shuffle(values)
    growth = series_of(values).growth()
    # 64 points in the order of chance: 80 % more rising than falling pairs do not come.
    assert growth is None or len(values) < 20


def test_four_points_are_too_few() -> None:
    assert steady_growth([(step, step) for step in range(4)]) is None
    assert steady_growth([(step, step) for step in range(5)]) is not None


def test_a_short_row_must_rise_without_a_break() -> None:
    assert steady_growth(list(enumerate([1, 2, 2, 4, 5]))) is None


def test_as_many_points_are_kept_however_long_the_loop_is() -> None:
    series = series_of(list(range(100_000)))
    assert len(series._points) <= 65


def test_tensors_that_stopped_coming_are_no_growth_of_a_heap_that_is_seldom_read() -> None:
    judge = Judge("training", "step", 100)
    seldom = {8, 82, 85, 90, 95, 100, 190}
    leaks = []
    for step in range(1, 301):
        tensors = min(step, 200) * (1 << 18)
        heap = {HEAP: tensors + (1 << 20)} if step in seldom else {}
        leaks += judge.step({HOST: tensors, **heap})
    assert leaks + judge.end({HOST: 200 << 18, HEAP: (200 << 18) + (1 << 20)}) == []
