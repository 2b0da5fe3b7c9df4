"""Sessions of random cells, with the agent and without: a program of its own, since each search goes through
all that its process holds."""

from __future__ import annotations

import gc
import os
import re
import types
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from agent_cells import SETUP, Cells, sessions
from hypothesis import HealthCheck, Phase, given, seed, settings
from shells import new_session

# Other numbers are for long runs by hand.
SEED = int(os.environ.get("XLEAK_PROPERTY_SEED", "7"))
ADDRESS = re.compile(r"0x[0-9a-f]+")
EXAMPLES = int(os.environ.get("XLEAK_PROPERTY_EXAMPLES", "30"))


@dataclass
class Seen:
    """What the user's code can tell after a session. released: what the agent wrote into the journal."""

    outputs: list[str] = field(default_factory=list)
    names: Any = None
    released: list[str] = field(default_factory=list)


@contextmanager
def collector_waits() -> Iterator[None]:
    """When it runs by itself hangs on every allocation of either side; enabled it stays. Hypothesis times it
    by a callback, which the agent would take for the user's."""
    before, callbacks = gc.get_threshold(), gc.callbacks[:]
    gc.set_threshold(1 << 30, 1 << 30, 1 << 30)
    gc.callbacks.clear()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.callbacks[:] = callbacks


def run(cells: Cells, policy: str) -> Seen:
    seen = Seen()
    with new_session() as session, collector_waits():
        session.run(SETUP)
        session.watcher.settings.policy = policy
        for cell in cells:
            text = StringIO()
            with redirect_stdout(text):
                session.run(cell)
            seen.outputs.append(ADDRESS.sub("0x", text.getvalue()))
        seen.released = [it.what for it in session.watcher.journal.entries if it.who == "agent"]
        session.watcher.settings.policy = "report"
        seen.names = Picture(session.shell.user_ns, seen_outputs(session.shell.user_ns)).taken()
    return seen


def seen_outputs(user_ns: dict[str, Any]) -> set[str]:
    """The names of the shell's that the agent promises to keep."""
    return {name for name in ("_", "__", "___") if name in user_ns}


class Picture:
    """All that names lead to, by value and by identity: every object has the number in which it was met."""

    def __init__(self, user_ns: dict[str, Any], kept: set[str]) -> None:
        self._user_ns = user_ns
        own = [name for name in user_ns if not name.startswith("_")]
        shells = {"In", "Out", "get_ipython", "exit", "quit", "open"}
        self._names = sorted([*(name for name in own if name not in shells), *kept])
        self._met: dict[int, int] = {}
        self._alive: list[Any] = []

    def taken(self) -> Any:
        return [(name, self._of(self._user_ns[name])) for name in self._names]

    def _of(self, it: Any) -> Any:
        if id(it) in self._met:
            return f"#{self._met[id(it)]}"
        self._met[id(it)] = len(self._met)
        self._alive.append(it)
        kind = type(it).__name__
        if isinstance(it, (bytearray, str, int, float, type(None))):
            return kind, len(it) if isinstance(it, bytearray) else it
        if isinstance(it, (list, tuple)):
            return kind, [self._of(item) for item in it]
        if isinstance(it, dict):
            return kind, [(self._of(key), self._of(value)) for key, value in it.items()]
        if isinstance(it, memoryview):
            return kind, self._of(it.obj)
        if kind in ("ReferenceType", "weakref"):
            return kind, self._of(it())
        if isinstance(it, types.FunctionType):
            cells = [self._of(cell.cell_contents) for cell in it.__closure__ or ()]
            return kind, cells, self._of(it.__defaults__)
        if isinstance(it, BaseException):
            frames = []
            trace = it.__traceback__
            while trace is not None:
                frames.append([(k, self._of(v)) for k, v in own_locals(trace).items()])
                trace = trace.tb_next
            return kind, str(it), frames, self._of(it.__cause__), self._of(it.__context__)
        if isinstance(it, types.GeneratorType):
            return kind, it.gi_frame is None
        return kind, self._of(vars(it)) if hasattr(it, "__dict__") and kind == "Node" else ""


def own_locals(trace: types.TracebackType) -> dict[str, Any]:
    frame = trace.tb_frame
    of_a_function = frame.f_code.co_name in ("fail", "chained")
    return dict(frame.f_locals) if of_a_function else {}


def compare_sessions() -> None:
    """Raises AssertionError where the agent can be told. Prints the seed and the count."""
    count, released = 0, 0

    @seed(SEED)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(sessions())
    def same(cells: Cells) -> None:
        nonlocal count, released
        without, with_agent = run(cells, "report"), run(cells, "auto")
        assert without.released == []
        assert with_agent.outputs == without.outputs
        assert with_agent.names == without.names
        count, released = count + 1, released + len(with_agent.released)

    try:
        same()
    finally:
        print(
            f"agent property: seed {SEED}, {count} sessions with the agent and without; it released {released} times"
        )
    assert released > count // 4, "the agent had too little to do"


if __name__ == "__main__":
    compare_sessions()
