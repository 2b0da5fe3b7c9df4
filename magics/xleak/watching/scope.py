"""`xleak.watch`: what a block or a function keeps, each time and time after time."""

from __future__ import annotations

import atexit
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

from xleak.originals import os, threading
from xleak.watching import user_frames
from xleak.watching.counters import Counters
from xleak.watching.judge import Judge
from xleak.watching.watcher import OnLeak, Watcher, harmlessly, tell

Function = TypeVar("Function", bound=Callable[..., Any])

# What a block or a function is called, its file and its line.
_Key = tuple[str, str, int]


class _Calls(threading.local):
    """The blocks and functions of one thread that ran before, with how their leaks are told."""

    def __init__(self) -> None:
        self.judges: dict[_Key, tuple[Judge, OnLeak]] = {}
        self.running: list[_Key] = []


_calls = _Calls()


class Watch:
    """What xleak.watch() returns: for `with`, and as a decorator. Each time is a Watcher of its own,
    and a step of a series of all of them."""

    def __init__(
        self, label: str | None, *, every: int, on_leak: OnLeak, max_kept: int | str | None
    ) -> None:
        self._label = label
        self._every, self._on_leak, self._max_kept = every, on_leak, max_kept
        self._entered: list[tuple[Watcher, _Key]] = []
        # What is wrong is said where it is written.
        self._watcher()

    def __enter__(self) -> Watcher:
        file, line = user_frames.place()
        key = (self._label or f"{os.path.basename(file)}:{line}", file, line)
        self._entered.append((self._begin(key), key))
        return self._entered[-1][0]

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._end(*self._entered.pop(), kind)

    def __call__(self, function: Function) -> Function:
        if not callable(function):
            raise TypeError(f"xleak.watch decorates a function, got {type(function).__name__}")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                "xleak.watch cannot decorate a generator, which runs a little at a time: use "
                "`with xleak.watch(...)` inside it"
            )
        code = getattr(inspect.unwrap(function), "__code__", None)
        name = self._label or str(getattr(function, "__qualname__", "function"))
        key: _Key = (name, code.co_filename, code.co_firstlineno) if code else (name, "", 0)
        wrapper = self._around_coroutine if inspect.iscoroutinefunction(function) else self._around
        wrapped: Any = functools.wraps(function)(wrapper(function, key))
        return wrapped  # type: ignore[no-any-return]

    def _around(self, function: Any, key: _Key) -> Any:
        def watched(*args: Any, **kwargs: Any) -> Any:
            watcher = self._begin(key)
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                self._end(watcher, key, type(error))
                raise
            self._end(watcher, key, None)
            return result

        return watched

    def _around_coroutine(self, function: Any, key: _Key) -> Any:
        async def watched(*args: Any, **kwargs: Any) -> Any:
            watcher = self._begin(key)
            try:
                result = await function(*args, **kwargs)
            except BaseException as error:
                self._end(watcher, key, type(error))
                raise
            self._end(watcher, key, None)
            return result

        return watched

    def _watcher(self, label: str = "") -> Watcher:
        return Watcher(label, every=self._every, on_leak=self._on_leak, max_kept=self._max_kept)

    def _begin(self, key: _Key) -> Watcher:
        _calls.running.append(key)
        return self._watcher(key[0])

    def _end(self, watcher: Watcher, key: _Key, kind: type[BaseException] | None) -> None:
        _calls.running.remove(key)
        watcher.__exit__(kind)
        # Of a function that calls itself the outermost call is the step.
        if kind is None and key not in _calls.running:
            watcher._tell(harmlessly(lambda: self._judge(key).step(watcher._after)) or [])

    def _judge(self, key: _Key) -> Judge:
        _have_the_end_told()
        judge = Judge(key[0], "call", self._every)
        return _calls.judges.setdefault(key, (judge, self._on_leak))[0]


@functools.cache
def _have_the_end_told() -> None:
    atexit.register(_tell_at_exit)


def _tell_at_exit() -> None:
    """The calls have no end of their own; it is too late to raise."""
    for (_, file, line), (judge, on_leak) in _calls.judges.items():
        leaks = harmlessly(functools.partial(judge.end, Counters().all())) or []
        tell(leaks, "quiet" if on_leak == "quiet" else "warn", (file, line))


@overload
def watch(label: Function) -> Function: ...
@overload
def watch(
    label: str | None = None,
    *,
    every: int = 100,
    on_leak: OnLeak = "warn",
    max_kept: int | str | None = None,
) -> Watch: ...
def watch(
    label: Any = None,
    *,
    every: int = 100,
    on_leak: OnLeak = "warn",
    max_kept: int | str | None = None,
) -> Any:
    """Watches a block (`with xleak.watch("epoch") as w:`) or a function (`@xleak.watch`).

    `w` is a Watcher: `w.kept_bytes`, `w.peak_bytes`, `w.devices`, and `w.step()` for a loop inside.
    A block or a function that runs again and again is a series, in which growth is told as in a loop.
    Arguments as of Watcher. Raises TypeError and ValueError for others.
    """
    watching = Watch(
        None if callable(label) else label, every=every, on_leak=on_leak, max_kept=max_kept
    )
    if callable(label):
        return watching(label)
    if label is not None and not isinstance(label, str):
        raise TypeError(f"the label of xleak.watch is a text, got {type(label).__name__}")
    return watching
