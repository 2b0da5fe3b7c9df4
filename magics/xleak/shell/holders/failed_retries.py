"""What an out-of-memory error kept of a first attempt while the second one failed too."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.fields import is_instance
from xleak.shell.holders.exceptions import chain_of
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.tracebacks import last_errors

_WORDS = "out of memory"


def failed_retries(look: Look) -> Iterator[_native.Holder]:
    """One holder for the last error, where it came out of a second attempt."""
    for error, held in first_attempts(look):
        cell = look.failed_cell
        label = (
            f"the error that {name_of_run(cell)} was handling"
            if cell
            else "the error being handled"
        )
        name = _native.type_name(error)
        yield _native.Holder(
            "failed attempt", label, held, cell, name, 1, "%release_cache --tracebacks"
        )


def first_attempts(look: Look) -> list[tuple[BaseException, int]]:
    """(error, bytes that it alone keeps): the error that was handled while its attempt was made
    again. The newest alone, because it keeps those before it."""
    for last in last_errors(look.watcher.shell):
        if not _native.is_kind_of(last, BaseException):
            continue
        chain: Any = chain_of(last)
        for handled in chain[1:]:
            if _is_out_of_memory(handled) and _was_tried_again(handled, chain[0]):
                held = look.heap.retained_by(handled)
                return [(handled, held)] if held >= REPORTED_BYTES else []
    return []


def _is_out_of_memory(error: BaseException) -> bool:
    if is_instance(error, "torch", "OutOfMemoryError"):
        return True
    arguments: Any = BaseException.args
    told = arguments.__get__(error)
    words = told[0] if type(told) is tuple and told else ""
    return type(error) is RuntimeError and type(words) is str and _WORDS in words


def _was_tried_again(handled: BaseException, last: BaseException) -> bool:
    """Whether the last error went through code that the handled one had gone through, below the
    frame that handled it."""
    first, second = _frames_of(handled), _frames_of(last)
    below = [n for n, frame in enumerate(second) if first and frame is first[0]]
    if not below:
        return False
    tried = {frame.f_code for frame in first if not _is_of_torch(frame)}
    return any(frame.f_code in tried for frame in second[below[0] + 1 :])


def _is_of_torch(frame: types.FrameType) -> bool:
    """Whether any module's call goes through it."""
    name = _native.value_at(frame.f_globals, "__name__")
    return type(name) is str and name.partition(".")[0] == "torch"


def _frames_of(error: BaseException) -> list[types.FrameType]:
    """From the frame that caught it to the one that raised it."""
    entry: Any = BaseException.__traceback__
    traceback, frames = entry.__get__(error), []
    while traceback is not None:
        frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    return frames
