"""Where an interrupt may be raised."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from types import FrameType

import pytest
from xleak.kernel.interrupts import Interrupts
from xleak.shell.signals import traceback_of_handler


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    handler = signal.getsignal(signal.SIGINT)
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()
    signal.signal(signal.SIGINT, handler)


@pytest.mark.parametrize(
    ("step", "raised"),
    [(1, KeyboardInterrupt), (2, asyncio.CancelledError)],
    ids=["first", "second"],
)
def test_an_interrupt_right_before_a_step_of_the_cell_stops_it_and_loses_no_step(
    loop: asyncio.AbstractEventLoop, step: int, raised: type[BaseException]
) -> None:
    steps = 0

    async def cell() -> None:
        interrupts.raise_late()
        await asyncio.sleep(0)
        await asyncio.sleep(60)

    def interrupt(frame: FrameType, event: str, argument: object) -> None:
        nonlocal steps
        steps += frame.f_code is asyncio.Handle._run.__code__
        if steps == step:
            sys.settrace(None)
            signal.getsignal(signal.SIGINT)(signal.SIGINT, frame)  # type: ignore[operator, misc]

    interrupts = Interrupts(loop, [])
    task = loop.create_task(cell())
    interrupts.allow(task)
    sys.settrace(interrupt)
    with pytest.raises(raised):
        loop.run_until_complete(task)
    # One that nobody asks for is logged, whenever the task goes.
    assert task.cancelled() or task.exception() is not None


def test_an_interrupt_from_before_a_cell_or_after_its_end_is_not_the_next_ones(
    loop: asyncio.AbstractEventLoop,
) -> None:
    async def cell() -> None:
        interrupts.raise_late()
        await asyncio.sleep(0)

    interrupts = Interrupts(loop, [])
    for _ in range(2):
        signal.raise_signal(signal.SIGINT)
        interrupts.expect()
        task = loop.create_task(cell())
        interrupts.allow(task)
        loop.run_until_complete(task)
        # Its task has ended, its reply is not made yet.
        signal.raise_signal(signal.SIGINT)
        interrupts.forbid()


def test_an_interrupt_of_the_kernels_is_no_error_of_a_handler_of_the_users(
    loop: asyncio.AbstractEventLoop,
) -> None:
    async def cell() -> None:
        return None

    frame = sys._getframe()
    interrupts = Interrupts(loop, [frame.f_code])
    task = loop.create_task(cell())
    interrupts.allow(task)
    with pytest.raises(KeyboardInterrupt) as raised:
        signal.getsignal(signal.SIGINT)(signal.SIGINT, frame)  # type: ignore[operator, misc]
    assert traceback_of_handler(raised.value) is None
    loop.run_until_complete(task)
