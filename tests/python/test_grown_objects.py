"""Objects of the notebook's classes that grew since they were made."""

from __future__ import annotations

import pytest
from shells import Session

RECORDER = """
import numpy as np
class Recorder:
    def __init__(self, size=0):
        self.frames, self.first = [], np.ones(size)
    def step(self, number):
        self.frames.append(np.full(6_000, float(number)))
        return self.frames[-1].sum()
    def mean(self):
        return np.mean([frame[0] for frame in self.frames])
    def stop(self):
        self.frames.clear()
recorder = Recorder()
"""
STEPS = "total = sum(recorder.step(number) for number in range(60)); recorder.mean()"
OTHER = ["a = 1", "b = 2"]


def test_what_grew_and_no_later_cell_uses_is_reported_until_it_is_gone(session: Session) -> None:
    assert session.reported("XL423", RECORDER, STEPS, "a = 1") == {}
    assert session.reported("XL423", "b = 2") == {"recorder": (2, "del recorder")}
    assert session.reported("XL423", "del recorder") == {}


# Its address tells nothing: another object may have it by now, as the same one has here.
AGAIN = """
spare = recorder
del recorder
recorder = spare
del spare
recorder.first = np.ones(400_000)
"""


def test_what_a_name_is_bound_to_again_was_made_by_that_cell(session: Session) -> None:
    # Large enough for a look after that cell.
    looked_at = f"{RECORDER}\npad = np.ones(1 << 18)"
    assert session.reported("XL423", looked_at, AGAIN, "print(pad[0])", "print(pad[1])") == {}


@pytest.mark.parametrize(
    "cells",
    [
        [RECORDER, STEPS, *OTHER, "print(len(recorder.frames))"],
        [f"{RECORDER}\n{STEPS}", *OTHER],
        [RECORDER.replace("Recorder()", "Recorder(900_000)"), STEPS, *OTHER],
        [RECORDER, STEPS, "recorder.stop()", *OTHER],
        [RECORDER, f"{STEPS}; kept = recorder.frames", "a = 1", "print(len(kept))"],
    ],
    ids=["used later", "made as large", "grew by little", "emptied", "another name has it"],
)
def test_others_are_silent(session: Session, cells: list[str]) -> None:
    assert session.reported("XL423", *cells) == {}
