"""What a tracer of the program's sees of functions that are out of its sight, and in it again."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from xleak import _native


def user(of: str = "user") -> str:
    """Code of the program's."""
    return of


@_native.out_of_sight
def hidden(call: Callable[..., Any], *arguments: Any) -> Any:
    """Says what it does."""
    return call(*arguments)


def around(call: Callable[..., Any], *arguments: Any) -> Any:
    return call(*arguments)


def seen_again(*arguments: Any) -> Any:
    return _native.in_sight(user, *arguments)


@contextmanager
def seen(by: str) -> Iterator[list[str]]:
    """The functions of this file that are entered."""
    entered: list[str] = []

    def record(frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        # The `with` that installs the tracer ends by a step of this generator.
        if event == "call" and code.co_filename == __file__ and code.co_name != "seen":
            entered.append(code.co_name)
        return None

    install = getattr(sys, by)
    install(record)
    try:
        yield entered
    finally:
        install(None)


@pytest.fixture(params=["settrace", "setprofile"])
def by(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_hidden_call_and_all_below_it_is_not_seen_and_the_next_call_is(by: str) -> None:
    with seen(by) as entered:
        hidden(around, user)
        user()
    assert entered == ["user"]


def test_the_program_s_code_is_seen_below_any_number_of_hidden_calls(by: str) -> None:
    with seen(by) as entered:
        assert hidden(hidden, hidden, seen_again, "it") == "it"
        hidden(around, seen_again)
        hidden(user)
    assert entered == ["user", "user"]


def test_code_of_xleak_s_that_the_program_calls_back_is_hidden_again(by: str) -> None:
    with seen(by) as entered:
        hidden(_native.in_sight, around, hidden, seen_again)
    assert entered == ["around", "user"]


def test_an_error_leaves_a_tracer_as_it_was(by: str) -> None:
    with seen(by) as entered:
        for call in (hidden, around):
            with pytest.raises(ZeroDivisionError):
                hidden(call, divmod, 1, 0)
            with pytest.raises(ZeroDivisionError):
                hidden(_native.in_sight, divmod, 1, 0)
        user()
    assert entered[-1] == "user"
    assert "hidden" not in entered and "around" not in entered


def test_a_generator_made_out_of_sight_is_seen_where_it_runs(by: str) -> None:
    def steps() -> Iterator[int]:
        yield 1
        yield 2

    with seen(by) as entered:
        made = hidden(steps)
        assert hidden(next, made) == 1
        assert next(made) == 2
    assert entered == ["steps"]


def test_a_tracer_that_comes_while_the_program_is_seen_again_stays() -> None:
    entered: list[str] = []

    def record(frame: FrameType, event: str, arg: object) -> Any:
        entered.append(frame.f_code.co_name)
        return None

    def install() -> None:
        sys.settrace(record)
        user()

    try:
        hidden(_native.in_sight, install)
        hidden(user)
        user("again")
    finally:
        sys.settrace(None)
    assert entered == ["user", "user"]


def test_other_threads_are_seen_meanwhile() -> None:
    entered: list[str] = []

    def record(frame: FrameType, event: str, arg: object) -> Any:
        entered.append(frame.f_code.co_name)
        return None

    def run_a_thread() -> None:
        thread = threading.Thread(target=user)
        thread.start()
        thread.join()

    threading.settrace(record)
    try:
        hidden(run_a_thread)
    finally:
        threading.settrace(None)
    assert "user" in entered


def test_what_a_trace_function_itself_runs_is_never_seen() -> None:
    entered: list[str] = []

    def record(frame: FrameType, event: str, arg: object) -> Any:
        entered.append(frame.f_code.co_name)
        hidden(seen_again)
        return None

    sys.settrace(record)
    try:
        user()
    finally:
        sys.settrace(None)
    assert entered == ["user"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
def test_a_tool_of_sys_monitoring_sees_the_program_alone() -> None:
    monitoring: Any = vars(sys)["monitoring"]
    entered: list[str] = []

    def record(code: Any, *_: Any) -> None:
        if code.co_filename == __file__:
            entered.append(code.co_name)

    tool, events = monitoring.PROFILER_ID, monitoring.events
    monitoring.use_tool_id(tool, "test")
    monitoring.register_callback(tool, events.PY_START, record)
    monitoring.register_callback(tool, events.LINE, record)
    monitoring.set_events(tool, events.PY_START | events.LINE)
    try:
        hidden(around, user)
        hidden(seen_again)
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    assert set(entered) - {test_a_tool_of_sys_monitoring_sees_the_program_alone.__name__} == {
        "user"
    }


class Owner:
    @_native.out_of_sight
    def method(self, word: str) -> str:
        """Says it."""
        return f"{type(self).__name__} {word}"


def test_a_hidden_function_is_looked_at_and_bound_like_the_function() -> None:
    assert (hidden.__name__, hidden.__doc__, hidden.__module__) == (
        "hidden",
        "Says what it does.",
        __name__,
    )
    assert (
        str(inspect.signature(hidden)) == "(call: 'Callable[..., Any]', *arguments: 'Any') -> 'Any'"
    )
    owner = Owner()
    assert (owner.method("it"), Owner.method(owner, word="it")) == ("Owner it", "Owner it")
    assert owner.method == owner.method and owner.method.__doc__ == "Says it."
    assert str(inspect.signature(owner.method)) == "(word: 'str') -> 'str'"


def deep(n: int) -> int:
    return deep(n + 1)


def test_a_recursion_error_is_a_value_that_was_named_and_is_told_of_once() -> None:
    assert not _native.was_cut_short()
    assert _native.out_of_sight(deep, -1)(0) == -1
    assert (_native.was_cut_short(), _native.was_cut_short()) == (True, False)
    with pytest.raises(RecursionError):
        _native.out_of_sight(deep)(0)
    with pytest.raises(ZeroDivisionError):
        _native.out_of_sight(divmod, "cut")(1, 0)
    assert not _native.was_cut_short()
