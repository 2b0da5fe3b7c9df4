"""Variables of functions that other threads run, whose values they never read again: a worker that waits for its next
job still has the last one."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.originals import _current_frames, threading
from xleak.shell.registries import name_of_thread

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

UNREAD_VARIABLE = "the variable "
_ACTIVE: dict[int, Any] = vars(threading)["_active"]
_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")
# By these a function has its variables read without an instruction that says so.
_READS_ALL = {"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe"}


def unread_variables(shell: InteractiveShell) -> Iterator[tuple[str, Any]]:
    """(label, value) of those in functions of the user's that other threads are in."""
    threads = {ident: name_of_thread(it) for ident, it in _native.items_of(_ACTIVE)}
    for ident, frame in frames_of_others():
        if frame.f_globals is shell.user_ns:
            for name, value in _unread_in(frame):
                yield (
                    f"{UNREAD_VARIABLE}{name} of {frame.f_code.co_name}() in thread {threads.get(ident, ident)}",
                    value,
                )


def frames_of_others() -> Iterator[tuple[int, types.FrameType]]:
    """Each frame of each thread but this one, with the thread's ident, the innermost first."""
    threads = _current_frames()
    # A frame that refers to itself is garbage in a cycle once it returns, and all of its callers' locals with it.
    del threads[threading.get_ident()]
    for ident, innermost in threads.items():
        frame: types.FrameType | None = innermost
        while frame is not None:
            yield ident, frame
            frame = frame.f_back


def _unread_in(frame: types.FrameType) -> Iterator[tuple[str, Any]]:
    names = unread_at(frame.f_code, frame.f_lasti)
    variables = _native.locals_of(frame) if names else {}
    in_use = [value for name, value in variables.items() if name not in names]
    shown = {id(it) for value in in_use for it in [value, *_native.values_of(value)]}
    for name in sorted(names & variables.keys()):
        if id(variables[name]) not in shown:
            yield name, variables[name]


def unread_at(code: types.CodeType, offset: int) -> set[str]:
    """The local variables that no way from an instruction on reads before it gives them something else."""
    if not _READS_ALL.isdisjoint(code.co_names):
        return set()
    read = dis.Bytecode(code)
    steps = {it.offset: it for it in read}
    after = _ways(read, steps)
    start = max((at for at in steps if at <= offset), default=None)
    if start is None:
        return set()
    return {
        name
        for name in code.co_varnames
        if name not in code.co_cellvars and not _is_read(name, after[start], steps, after)
    }


def _is_read(
    name: str, first: list[int], steps: dict[int, dis.Instruction], after: dict[int, list[int]]
) -> bool:
    pending, seen = [*first], set(first)
    while pending:
        at = pending.pop()
        step = steps[at]
        if "FAST" in step.opname:
            # An instruction that has two of them is read as one that reads both.
            names = step.argval if type(step.argval) is tuple else (step.argval,)
            if name in names and (len(names) > 1 or step.opname.startswith("LOAD")):
                return True
            if name in names:
                continue
        pending += [it for it in after[at] if it not in seen]
        seen.update(after[at])
    return False


def _ways(read: dis.Bytecode, steps: dict[int, dis.Instruction]) -> dict[int, list[int]]:
    """By the offset of an instruction those of the next ones, a handler of an exception among them."""
    offsets = sorted(steps)
    after: dict[int, list[int]] = {}
    for at, following in zip(offsets, [*offsets[1:], None], strict=True):
        step = steps[at]
        jumps = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
        after[at] = [step.argval] if jumps else []
        goes_away = jumps and step.opname.startswith("JUMP") and "IF" not in step.opname
        if following is not None and not goes_away and step.opname not in _ENDS:
            after[at].append(following)
    for entry in getattr(read, "exception_entries", ()):
        for at in offsets:
            if entry.start <= at <= entry.end:
                after[at].append(entry.target)
    return after
