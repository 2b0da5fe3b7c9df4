"""Memos with a number drawn at random in their keys."""

from __future__ import annotations

import pytest
from shells import Session

SCENES = """
import random
import numpy as np
random.seed(0)
class Scenes:
    def __init__(self):
        self.cache = {}
    def load(self, i, angle):
        if (i, angle) not in self.cache:
            self.cache[i, angle] = np.ones(6_000)
        return self.cache[i, angle]
scenes = Scenes()
"""
EPOCHS = """
total = 0
for epoch in range(3):
    for i in range(40):
        total += scenes.load(i, ANGLE)[0]
"""


def test_keys_that_come_again_but_for_a_random_part_are_reported(session: Session) -> None:
    cells = [SCENES, EPOCHS.replace("ANGLE", "random.uniform(-9, 9)"), "print(total)"]
    found = session.reported("XL423", *cells)
    assert found == {"scenes.cache": (5, "scenes.cache.clear()")}
    assert session.reported("XL423", "scenes.cache.clear()") == {}


@pytest.mark.parametrize(
    "angle",
    ["angles[i]", "float(epoch)", "float(epoch + i)", "None"],
    ids=["drawn once for each", "a grid", "numbers that come again", "no number"],
)
def test_keys_that_may_be_found_again_are_silent(session: Session, angle: str) -> None:
    make = "angles = [random.random() for _ in range(40)]"
    cells = [SCENES, make, EPOCHS.replace("ANGLE", angle), "print(total)"]
    assert session.reported("XL423", *cells) == {}


def test_what_a_later_cell_asks_for_is_silent(session: Session) -> None:
    cells = [SCENES, EPOCHS.replace("ANGLE", "random.uniform(-9, 9)"), "print(total)"]
    assert session.reported("XL423", *cells, "print(scenes.load(0, 1.5)[0])") == {}
