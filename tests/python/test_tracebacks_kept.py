"""Tracebacks that a container has itself, as one of `sys.exc_info()`."""

from __future__ import annotations

from shells import MIB, Session

LOAD = """
import sys
import numpy as np
def load(k):
    table = np.ones(500_000)
    raise ValueError(k)
errors = {}
for k in range(2):
    try:
        load(k)
    except ValueError:
        errors[str(k)] = sys.exc_info()
"""


def told(session: Session) -> dict[str, int]:
    found = [it for it in session.watcher.findings() if it.code == "XL403"]
    return {it.key: (it.bytes or 0) // MIB for it in found}


def test_the_frames_go_with_the_repair_and_the_errors_stay(session: Session) -> None:
    session.run(LOAD)
    assert told(session) == {"errors['0'][2]": 3, "errors['1'][2]": 3}
    for found in [it for it in session.watcher.findings() if it.code == "XL403"]:
        assert session.run(found.fixes[0].code)
    assert told(session) == {}
    assert session.run("assert [str(it[1]) for it in errors.values()] == ['0', '1']")
