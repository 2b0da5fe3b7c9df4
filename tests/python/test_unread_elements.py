"""A list of which later cells read the first or the last element alone."""

from __future__ import annotations

import pytest
from shells import Session

COPIES = """
import copy
import numpy as np
weights = {"w": np.ones(200_000)}
states = []
for epoch in range(5):
    weights["w"] += 1
    states.append(copy.deepcopy(weights))
"""


def test_copies_of_which_the_last_is_read_are_reported(session: Session) -> None:
    found = session.reported("XL424", COPIES, "weights.update(states[-1])", "print(len(states))")
    assert found == {"states": (6, "del states[:-1]")}
    assert session.reported("XL424", found["states"][1]) == {}
    assert session.run("assert len(states) == 1 and states[-1]['w'][0] == 6")


def test_of_which_the_first_is_read_too(session: Session) -> None:
    found = session.reported("XL424", COPIES, "print(states[0]['w'].sum())")
    assert found == {"states": (6, "del states[1:]")}


@pytest.mark.parametrize(
    "use",
    [
        "print(states[-1]['w'].sum(), states[2]['w'].sum())",
        "print(states[-1]['w'].sum(), states[epoch - 1]['w'].sum())",
        "print(states[-1]['w'].sum(), [s['w'].sum() for s in states])",
        "print(states[-1]['w'].sum(), states[1:3])",
        "last = states[-1]; everything = np.stack([*map(len, states)])",
        "print(len(states))",
    ],
)
def test_where_others_are_read_or_none_is_it_is_silent(session: Session, use: str) -> None:
    assert session.reported("XL424", COPIES, use) == {}
