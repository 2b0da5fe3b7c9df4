"""What a signal handler of the user's raises while lines of xleak's run."""

from __future__ import annotations

import signal
from types import CodeType, FunctionType, MethodType, TracebackType
from typing import Any


def traceback_of_handler(error: BaseException) -> TracebackType | None:
    """The traceback of `error` from a signal handler on, None where no handler raised it.

    Python runs handlers between any two lines of the main thread, whosever they are.
    """
    traceback_of: Any = BaseException.__traceback__
    handlers = {_code(signal.getsignal(number)) for number in signal.valid_signals()}
    at: TracebackType | None = traceback_of.__get__(error)
    while at is not None and at.tb_frame.f_code not in handlers:
        at = at.tb_next
    return at


def _code(handler: object) -> CodeType | None:
    """Of a function or a method, but not of xleak's own, which the kernel has for SIGINT."""
    if type(handler) is MethodType:
        handler = handler.__func__
    if type(handler) is not FunctionType:
        return None
    own = str(handler.__globals__.get("__name__")).startswith("xleak.")
    return None if own else handler.__code__
