"""Weak keys that the values keep alive, so that no entry is ever dropped."""

from __future__ import annotations

import pytest
from shells import MIB, Session

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


def reported(session: Session, *cells: str) -> dict[str, tuple[int, str]]:
    for cell in cells:
        assert session.run(cell)
    session.shell.run_line_magic("leakcheck", "")
    found = [it for it in session.watcher.findings() if it.code == "XL423"]
    return {it.key: ((it.bytes or 0) // MIB, it.fixes[0].code) for it in found}


def test_values_that_lead_to_their_keys_pile_up(session: Session) -> None:
    cells = [SHOP.format(of="visit"), VISITS, "del visits", "print(total)"]
    assert reported(session, *cells) == {"profiles": (3, "profiles.clear()")}
    assert reported(session, "profiles.clear()") == {}


@pytest.mark.parametrize(
    ("of", "after"), [("weakref.ref(visit)", "del visits"), ("visit", "print(len(visits))")]
)
def test_what_goes_with_its_key_or_can_be_asked_for_is_silent(
    session: Session, of: str, after: str
) -> None:
    assert reported(session, SHOP.format(of=of), VISITS, after) == {}
