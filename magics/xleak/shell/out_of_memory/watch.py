"""Follows the cells of a shell for those that fail because memory ran out.

Afterwards `%debug` and `%tb` have the failed frames until the next cell of the user's begins. Then the
shell lets go of them, so that the next attempt has what they held.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.originals import gc
from xleak.shell.out_of_memory.host_memory import Room, room
from xleak.shell.out_of_memory.ownership import Ownership, other_references
from xleak.shell.out_of_memory.reserve import Reserve
from xleak.shell.tracebacks import drop_last_errors, frames_of_last

if TYPE_CHECKING:
    from xleak.postmortem import Postmortem
    from xleak.shell.out_of_memory.autopsy import Search
    from xleak.shell.out_of_memory.errors import Refusal
    from xleak.shell.watcher import Watcher

# A cell of nothing else looks at the failure and is no next attempt.
_LOOKS = re.compile(
    r"\s*(?:%?(?:debug|tb)|%(?:debug|tb|xleak|leakcheck|memreport|xmode|pdb)\b.*|#.*)?\s*"
)


def watch_for_failures(watcher: Watcher) -> None:
    """From now on a cell that fails for want of memory gets a post-mortem below its traceback."""
    failures = _Failures(watcher)
    watcher.before_run.append(failures.before_run)
    watcher.before_traceback.append(failures.before_traceback)
    watcher.after_account.append(failures.after_account)
    watcher.showing.append(failures.has_to_tell)


class _Failures:
    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._kept: Ownership | None = None
        """Of the last failure, while the shell has its frames."""
        self._reserve = Reserve()
        self._given = 0
        self._refusal: Refusal | None = None
        """Why the last cell failed, once that is judged."""
        self._is_judged = False

    def before_run(self, source: str) -> None:
        """A cell of the user's comes."""
        self._refusal, self._is_judged = None, False
        self._let_go(source)
        self._reserve.take()

    def _let_go(self, source: str) -> None:
        if self._kept is None or all(_LOOKS.fullmatch(line) for line in source.splitlines()):
            return
        kept, self._kept = self._kept, None
        now = other_references(self._watcher.shell)
        if kept.is_last(now):
            drop_last_errors(self._watcher.shell, kept.others(now))
            # What drew the traceback leaves cycles around its frames.
            _native.in_sight(gc.collect)
            self._watcher.look_again()

    def before_traceback(self, kind: type[BaseException]) -> None:
        """IPython reads whole files to draw a traceback, and has no room left either."""
        if issubclass(kind, MemoryError):
            self._reserve.give()

    def has_to_tell(self, source: str) -> bool:
        """Whether a post-mortem comes under the cell that has ended."""
        try:
            return self._judge() is not None
        except MemoryError:
            return True

    def after_account(self, index: int) -> None:
        """A cell has ended."""
        try:
            # The limits are read only here: most errors are of another kind.
            if (refusal := self._judge()) is not None:
                self._tell(index, refusal, room(self._given))
        except MemoryError:
            _say("memory is too short to say who holds it; %xleak oom does, once there is some.")
        except Exception as error:
            self._watcher.say_failure(error)

    def _judge(self) -> Refusal | None:
        result = self._watcher.shell.last_execution_result
        if self._is_judged or result is None or result.error_in_exec is None:
            return self._refusal
        self._given = self._reserve.give()
        # Nothing of this is needed where no cell fails.
        from xleak.shell.out_of_memory.errors import refusal_of

        self._refusal = refusal_of(result.error_in_exec, self._watcher.shell.user_global_ns)
        self._is_judged = True
        return self._refusal

    def _tell(self, index: int, refusal: Refusal, below: Room | None) -> None:
        from xleak.shell.out_of_memory import autopsy

        shell = self._watcher.shell
        # Before the search, which may find no room.
        self._kept = Ownership.of(shell, None)
        search = _search(self._watcher, autopsy.state(refusal.allocator)[0].allocator)
        if search is not None and search.heap is not None:
            self._kept = Ownership.of(shell, search.heap)
        told = autopsy.postmortem(
            self._watcher, index, refusal, below, list(frames_of_last()), search
        )
        self._watcher.postmortems[index] = told
        _show(told)
        for listener in self._watcher.after_failure:
            listener(index, told)


def _search(watcher: Watcher, allocator: str) -> Search | None:
    from xleak.shell.out_of_memory.autopsy import Search

    try:
        return Search(watcher, allocator)
    except MemoryError:
        return None


def _show(told: Postmortem) -> None:
    from IPython.display import display

    from xleak.render import postmortem

    page = {
        "text/plain": postmortem.plain(told, name_of_run),
        "text/html": postmortem.fragment(told, name_of_run),
    }
    display(page, raw=True)


def _say(sentence: str) -> None:
    print(f"xleak: {sentence}", file=sys.stderr)
