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


def test_an_interrupt_right_before_a_step_of_the_cell_cancels_it_and_loses_no_step(
    loop: asyncio.AbstractEventLoop,
) -> None:
    async def cell() -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(60)

    def interrupt(frame: FrameType, event: str, argument: object) -> None:
        if frame.f_code is asyncio.Handle._run.__code__:
            sys.settrace(None)
            signal.getsignal(signal.SIGINT)(signal.SIGINT, frame)  # type: ignore[operator, misc]

    interrupts = Interrupts(loop, [])
    task = loop.create_task(cell())
    interrupts.allow(task)
    sys.settrace(interrupt)
    with pytest.raises(asyncio.CancelledError):
        loop.run_until_complete(task)


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
