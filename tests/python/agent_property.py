"""Sessions of random cells, with the agent and without: a program of its own, since each search goes through
all that its process holds."""

from __future__ import annotations

import contextvars
import gc
import os
import re
import threading
import types
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

import numpy as np
import torch
from agent_cells import Cells, sessions
from agent_tensor_cells import END
from hypothesis import HealthCheck, Phase, given, seed, settings
from shells import new_session

# Other numbers are for long runs by hand.
SEED = int(os.environ.get("XLEAK_PROPERTY_SEED", "7"))
ADDRESS = re.compile(r"0x[0-9a-f]+")
EXAMPLES = int(os.environ.get("XLEAK_PROPERTY_EXAMPLES", "4"))


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
        session.watcher.settings.policy = policy
        # The line of what is found is xleak's own, and is not shown of what was released.
        session.watcher.settings.notice_bytes = 1 << 40
        for cell in cells:
            text = StringIO()
            with redirect_stdout(text):
                session.run(cell)
            seen.outputs.append(ADDRESS.sub("0x", text.getvalue()))
        seen.released = [it.what for it in session.watcher.journal.entries if it.who == "agent"]
        session.watcher.settings.policy = "report"
        seen.names = Picture(session.shell.user_ns, seen_outputs(session.shell.user_ns)).taken()
        session.run(END)
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
        if type(it) in (weakref.ProxyType, weakref.CallableProxyType):
            return kind, is_alive(it)
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
                frames.append(self._locals(trace.tb_frame))
                trace = trace.tb_next
            return kind, str(it), frames, self._of(it.__cause__), self._of(it.__context__)
        if isinstance(it, types.GeneratorType):
            return kind, None if it.gi_frame is None else self._locals(it.gi_frame)
        if isinstance(it, types.TracebackType):
            return kind, self._of(it.tb_frame), self._of(it.tb_next)
        if isinstance(it, types.FrameType):
            return kind, self._locals(it)
        if isinstance(it, np.ndarray):
            return kind, it.shape, it.strides, it.sum(), self._of(it.base)
        if isinstance(it, torch.Tensor):
            return kind, self._of_tensor(it)
        if isinstance(it, threading.Thread):
            return kind, it.is_alive(), self._of(getattr(it, "_args", ()))
        if isinstance(it, type) and it.__name__ == "Held":
            return kind, self._of(vars(it)["value"])
        own = kind in ("Node", "Ring", "Net", "Linear", "RemovableHandle", "OrderedDict")
        return kind, self._of(vars(it)) if own and hasattr(it, "__dict__") else ""

    def _locals(self, frame: types.FrameType) -> Any:
        """Those of functions of the session's."""
        own = frame.f_globals is self._user_ns and frame.f_code.co_name != "<module>"
        return [(name, self._of(it)) for name, it in frame.f_locals.items()] if own else []

    def _of_tensor(self, it: torch.Tensor) -> Any:
        """Its values, whom it shares them with, and its part in a graph."""
        values = zlib.crc32(it.detach().contiguous().view(-1).numpy())
        layout = (it.dtype, it.shape, it.stride(), it.storage_offset(), it._version)
        self._alive.append(it.untyped_storage())
        shared = self._met.setdefault(-it.untyped_storage().data_ptr(), len(self._met))
        graph = (it.requires_grad, it.is_leaf, nodes_from(it.grad_fn))
        grad = self._of(it.grad) if it.is_leaf else None
        return (
            values,
            layout,
            shared,
            graph,
            grad,
            self._of(it._base),
            len(it._backward_hooks or ()),
        )


def is_alive(proxy: Any) -> bool:
    try:
        return proxy.__class__ is not None
    except ReferenceError:
        return False


def nodes_from(node: Any, most: int = 50) -> list[str]:
    """The types of a graph's nodes, in the order in which backward() would be able to meet them."""
    found: list[str] = []
    waiting = [node]
    while waiting and len(found) < most:
        node = waiting.pop()
        if node is not None:
            found.append(type(node).__name__)
            waiting += [following for following, _ in node.next_functions]
    return found


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
        without, with_agent = (
            contextvars.copy_context().run(run, cells, policy) for policy in ("report", "auto")
        )
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
    assert released > count // 8, "the agent had too little to do"


if __name__ == "__main__":
    compare_sessions()
