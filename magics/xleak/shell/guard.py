"""The guard of memory, as far as it is Python: lines under cells, and the interruption of one."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from IPython.core.interactiveshell import InteractiveShell

from xleak import _native
from xleak.originals import _getframe, gc
from xleak.shell.entry import entry
from xleak.shell.signals import traceback_of_handler

if TYPE_CHECKING:
    from xleak.shell.watcher import Watcher

# Writes a line where the output of the running cell goes.
Write = Callable[[str], None]
Told = Callable[[_native.GuardNote], None]

_RUN_CODE = InteractiveShell.run_code.__code__
# Containers whose length is theirs alone to tell.
_CONTAINERS = (list, dict, set, deque, bytearray)
# More would hide the one that matters.
_MOST_SHOWN = 3


class MemoryGuardError(MemoryError):
    """A cell was interrupted because it had nearly taken all memory there is. Sizes in bytes.

    limit: "cgroup", "address_space" or "machine". grown_bytes: what the cell has grown by. All are None
    where other code than the guard made it, as code does that adds words to an error.
    """

    limit: str | None = None
    used_bytes: int | None = None
    limit_bytes: int | None = None
    grown_bytes: int | None = None


# What users catch, and read in tracebacks.
MemoryGuardError.__module__ = "xleak"


class Guard:
    """Says what the native guard found, and stops the cell where the policy is `interrupt`."""

    def __init__(self, watcher: Watcher, write: Write | None) -> None:
        """write: for a kernel whose streams cells may redirect; else sys.stderr."""
        self._watcher = watcher
        self._write = write or (lambda line: print(line, end="", file=sys.stderr))
        self._lengths: dict[str, tuple[int, int]] = {}
        self.when_told: list[Told] = []
        """Get each line's note once its cell has ended."""
        self._told: list[_native.GuardNote] = []
        self._note_lengths()
        watcher.after_account.append(self._after_cell)
        _native.call_guard(self.between_instructions)

    def _note_lengths(self) -> None:
        """At the end of the cell before, since the names of a long session take a while to read."""
        is_off = self._watcher.settings.guard == "off"
        self._lengths = {} if is_off else _lengths(self._watcher.shell)

    def _after_cell(self, index: int) -> None:
        self._say_lines()
        self._note_lengths()
        told, self._told = self._told, []
        for note in told:
            for listener in self.when_told:
                listener(note)

    @entry(False)
    def between_instructions(self) -> BaseException | bool:
        """Called on the main thread, in whichever code it is; an error that it returns is raised there.
        True: it is to be called in other code, soon."""
        try:
            reason = _native.reason_to_stop()
            # Whoever called it is the code that was running.
            is_elsewhere = reason and not runs_user_code(self._watcher.shell, _getframe(1))
            if is_elsewhere:
                reason = None
            if reason and self._watcher.settings.policy == "auto" and self._gave_back_enough():
                reason = None
            self._say_lines(but_for=reason)
            if reason is None:
                return bool(is_elsewhere)
            _native.cell_stopped()
            return self._error(reason)
        except Exception as error:
            if traceback_of_handler(error):
                raise
            self._watcher.say_failure(error)
            return False

    def _say_lines(self, but_for: _native.GuardNote | None = None) -> None:
        for note in _native.guard_lines():
            self._told.append(note)
            # The error says it.
            if but_for is None or (note.limit, note.level) != (but_for.limit, but_for.level):
                self._write(f"xleak guard: {self._in_words(note)}\n")

    def _gave_back_enough(self) -> bool:
        """Garbage and free pages alone: to know what else no name reaches takes a walk over the heap,
        and memory for it."""
        if gc.isenabled():
            _native.in_sight(gc.collect)
        _native.trim_heap()
        _native.look_at_limits()
        if _native.reason_to_stop() is not None:
            return False
        self._write(
            "xleak guard: garbage was collected and free pages given back; it was enough.\n"
        )
        return True

    def _error(self, reason: _native.GuardNote) -> BaseException:
        error = self._guard_error(reason)
        if not reason.again:
            return error
        # Code that catches every Exception and goes on lets this one pass, as it does Ctrl-C.
        stop = KeyboardInterrupt(
            "xleak guard: MemoryGuardError did not end the cell, and it went on growing."
        )
        stop.__cause__ = error
        return stop

    def _guard_error(self, reason: _native.GuardNote) -> MemoryGuardError:
        advice = (
            "The cell was stopped, and what it made is still there: `del` what you can spare and run "
            "%release_cache, or do less at once. `%xleak guard warn` lets cells go on."
        )
        error = MemoryGuardError(f"{self._in_words(reason)} {advice}")
        error.limit = reason.limit
        error.used_bytes, error.limit_bytes = reason.used_bytes, reason.limit_bytes
        error.grown_bytes = reason.grown_bytes
        return error

    def _in_words(self, note: _native.GuardNote) -> str:
        grew = ", ".join(_grown(self._lengths, self._watcher.shell))
        if not grew:
            return note.sentence
        return f"{note.sentence} Longer than at the end of the cell before: {grew}."


def runs_user_code(shell: InteractiveShell, frame: FrameType | None) -> bool:
    """Whether `frame` runs for the code of a cell, and neither in xleak nor in a finalizer, where what
    is raised gets lost."""
    called: FrameType | None = None
    while frame is not None:
        if frame.f_code is _RUN_CODE:
            return called is not None and called.f_globals is shell.user_global_ns
        module = _native.value_at(frame.f_globals, "__name__")
        is_ours = type(module) is str and module.partition(".")[0] == "xleak"
        if is_ours and (called is None or not _calls_user_code(frame)):
            return False
        if frame.f_code.co_name == "__del__":
            return False
        called, frame = frame, frame.f_back
    return False


def _calls_user_code(frame: FrameType) -> bool:
    """Whether all that `frame` calls outside of xleak is the user's: of a function under @xleak.watch."""
    module = frame.f_globals["__name__"]
    return module == "xleak.watching.scope" and frame.f_code.co_name == "watched"


def _lengths(shell: InteractiveShell) -> dict[str, tuple[int, int]]:
    """The identity and the length of containers, by name; some are the shell's own."""
    return _native.lengths_in(shell.user_ns, _CONTAINERS)


def _grown(before: dict[str, tuple[int, int]], shell: InteractiveShell) -> list[str]:
    """The names of the containers that are longer than before, most first, in words."""
    longer = []
    for name, (now, length) in _lengths(shell).items():
        if name in shell.user_ns_hidden:
            continue
        was, had = before.get(name, (now, 0))
        had = had if was == now else 0
        if length > had:
            longer.append((length - had, f"`{name}` ({had} to {length} items)"))
    return [words for _, words in sorted(longer, reverse=True)[:_MOST_SHOWN]]
