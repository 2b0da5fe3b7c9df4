"""Copies of containers, and of parts of them."""

from __future__ import annotations

import pytest
from xleak import _native

PARTS = [
    (0, 1),
    (0, 4),
    (2, 4),
    (-3, 2**62),
    (-2, 2**62),
    (4, 2**62),
    (0, 2**62),
    (9, 2**62),
    (-9, 3),
]


def with_gaps() -> dict[int, str]:
    entries = {number: str(number) for number in range(20)}
    for number in (0, 3, 4, 11, 17, 18):
        del entries[number]
    return entries


@pytest.mark.parametrize(("start", "stop"), PARTS)
@pytest.mark.parametrize("mapping", [{}, {n: str(n) for n in range(5)}, with_gaps()])
def test_a_part_of_a_dictionary_is_a_slice_of_its_entries(
    mapping: dict[int, str], start: int, stop: int
) -> None:
    assert _native.items_of(mapping, start, stop) == list(mapping.items())[start:stop]
    assert _native.values_of(mapping, start, stop) == list(mapping.values())[start:stop]


def test_the_lengths_of_a_session_are_those_of_its_names_and_not_of_what_cells_showed() -> None:
    names = {"rows": [1, 2], "_3": [1], "_i3": "x", "_30": {}, "_x": {}, "_03": [], "number": 4}
    found = _native.lengths_in(names, (list, dict))
    assert {name: length for name, (_, length) in found.items()} == {"rows": 2, "_x": 0, "_03": 0}
