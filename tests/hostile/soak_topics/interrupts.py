"""Interrupts at any moment of a cell that would not end: that cell ends of it, and the next runs."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import psutil
from harness import Session
from soak_topics.soaked import PATIENCE_SECONDS, Soaked, Try
from test_early_interrupts import BODIES, shown_count

LATEST_SECONDS = 0.3
ENDLESS = {
    **BODIES,
    "sleep": "import time; time.sleep(600)",
    "python loop": "while True: pass",
    # In C, which asks for signals now and then, and lets no other thread run.
    "regular expression": "import re; re.match('(a|aa)+$', 'a' * 99 + 'b')",
}


def interrupt(session: Session, body: str, by: str, seconds: float) -> None:
    # An import that is interrupted may end with an error of its own.
    session.run("import asyncio, numpy, queue, re")
    msg_id = session.send(ENDLESS[body])
    try:
        shown_count(session, msg_id)
        time.sleep(seconds)
        if by == "signal":
            session.manager.interrupt_kernel()
        else:
            session.request("interrupt_request", channel="control")
        ename = session.wait(msg_id, PATIENCE_SECONDS).content.get("ename")
    except Exception:
        # The next try is not to wait for this cell.
        session.manager.interrupt_kernel()
        raise
    # As IPython has it, a cell goes on when its program was interrupted.
    assert ename == "KeyboardInterrupt" or (body, ename) == ("program", None), f"{ename} ended it"
    children = psutil.Process(session.process.pid).children(recursive=True)
    running = [it.name() for it in children if it.status() != psutil.STATUS_ZOMBIE]
    assert "sleep" not in running, "its program runs on"
    assert (value := session.value("6 * 7")) == "42", f"the next cell showed {value}"


def soak(soaked: Soaked, number: int, rng: random.Random) -> Iterator[Try]:
    for _ in range(number):
        body, by = rng.choice(sorted(ENDLESS)), rng.choice(["signal", "message"])
        # One in four as soon as the cell is known to run.
        seconds = rng.choice([0, 1, 1, 1]) * rng.uniform(0, LATEST_SECONDS)
        kind, wrong = soaked.attempt(
            f"{body}, by {by}",
            lambda session: interrupt(session, body, by, seconds),  # noqa: B023
        )
        yield Try(kind, wrong and f"{wrong} ({seconds * 1000:.0f} ms after its input was shown)")
