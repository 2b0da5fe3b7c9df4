"""Weak keys that the values keep alive, so that no entry is ever dropped."""

from __future__ import annotations

import pytest
from shells import Session

SHOP = """
import weakref
import numpy as np
profiles = weakref.WeakKeyDictionary()
class Visit: pass
class Profile:
    def __init__(self, visit):
        self.visit = {of}
        self.moves = np.ones(50_000)
def profile(visit):
    if visit not in profiles:
        profiles[visit] = Profile(visit)
    return profiles[visit]
"""
VISITS = "visits = [Visit() for _ in range(8)]\ntotal = sum(profile(it).moves[0] for it in visits)"


def test_values_that_lead_to_their_keys_pile_up(session: Session) -> None:
    cells = [SHOP.format(of="visit"), VISITS, "del visits", "print(total)"]
    assert session.reported("XL423", *cells) == {"profiles": (3, "profiles.clear()")}
    assert session.reported("XL423", "profiles.clear()") == {}


@pytest.mark.parametrize(
    ("of", "after"), [("weakref.ref(visit)", "del visits"), ("visit", "print(len(visits))")]
)
def test_what_goes_with_its_key_or_can_be_asked_for_is_silent(
    session: Session, of: str, after: str
) -> None:
    assert session.reported("XL423", SHOP.format(of=of), VISITS, after) == {}
