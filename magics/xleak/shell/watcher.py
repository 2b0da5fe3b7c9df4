"""What follows the cells of one shell."""

from __future__ import annotations

import functools
import itertools
import re
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from xleak import _native
from xleak.shell.caches import UNDERSCORES, OutputCaches
from xleak.shell.holders.search import Holders
from xleak.shell.journal import Journal
from xleak.shell.mentions import find_mentions
from xleak.shell.notice import Notice
from xleak.shell.settings import settings_of
from xleak.shell.signals import traceback_of_handler

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.postmortem import Postmortem

# What a cell may wait for; the rest is done while the kernel is idle.
BUDGET_MS = 30.0

# A cell that matters while it runs does so for minutes.
WHILE_RUNNING_SECONDS = 30.0

_WORD = re.compile(r"[^\W\d]\w*")

# (index of the cell, its source), called once the cell was judged.
Listener = Callable[[int, str], None]
# (source), called before the account of a cell begins.
Beginning = Callable[[str], None]
# (index of the cell), called once its record is complete.
Ending = Callable[[int], None]
# (what changed), called after every judgement, late ones included.
Judged = Callable[[_native.Judgement], None]
# (whether it has ended), called again and again while a search goes on in the idle kernel.
Searching = Callable[[bool], None]
# (), called when no cell runs and all is known of those that ran.
Idle = Callable[[], None]
# Whether a request waits, or the time is over.
Interrupted = Callable[[], bool]
Result = TypeVar("Result")
# (index of the cell, what is told of it), called after a cell that failed for want of memory.
Failed = Callable[[int, "Postmortem"], None]
Method = TypeVar("Method", bound=Callable[..., Any])


def _harmless(method: Method) -> Method:
    """A failure of xleak is said once and never fails a cell. What a signal handler of the user's
    raises here is shown."""

    @functools.wraps(method)
    def guarded(self: Watcher, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except (Exception, KeyboardInterrupt) as error:
            if of_handler := traceback_of_handler(error):
                traceback.print_exception(type(error), error, of_handler, file=sys.stderr)
            else:
                self.say_failure(error)
            return None

    return guarded  # type: ignore[return-value]


class Watcher:
    """What follows the cells of one shell: facts after each cell, notices, late findings."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.settings = settings_of(shell)
        self.caches = OutputCaches(shell)
        self.mentioned: set[int] = set()
        self.journal = Journal(self.settings, self.mentioned)
        self.before_run: list[Beginning] = []
        self.after_account: list[Ending] = []
        self.after_judging: list[Judged] = []
        self.after_judgement: list[Listener] = []
        self.while_searching: list[Searching] = []
        self.when_idle: list[Idle] = []
        self.request_waits: Interrupted | None = None
        self.after_failure: list[Failed] = []
        self.postmortems: dict[int, Postmortem] = {}
        self._holders = Holders()
        self._notice = Notice(shell)
        self._shown_by: dict[int, int] = {}
        self._tool_names: dict[str, int] = {}
        self._names_before: set[str] | None = None
        self._entries_before: dict[str, int] = {}
        self.next_count: int | None = None
        """The n of In[n] of the cell that comes, or runs."""
        self.last_cell = 0
        """Index of the cell that ended last."""
        self._unfinished = False
        self._failed = False

    @_harmless
    def about_to_run(self, source: str, execution_count: int) -> None:
        """A cell comes, its account has not begun. source: as the user wrote it."""
        self.next_count = execution_count
        if _native.enabled():
            self._holders.before_cell(source, self.shell)
            for listener in self.before_run:
                listener(source)

    @_harmless
    def before_cell(self) -> None:
        """Prints what was found late (top line of the next cell). Called inside the cell's output,
        before user code."""
        self._names_before = None
        if self.caches.unused:
            return
        self._entries_before = self._underscore_entries()
        if _native.enabled():
            self._tell()

    @_harmless
    def after_cell(self, index: int, source: str, execution_count: int | None) -> None:
        """Judges what the cell left, within 30 ms; prints at most the session's one line.

        index: of _native.records(). source: as the user wrote it.
        """
        if not _native.enabled():
            return
        self.last_cell = index
        for told in self.after_account:
            told(index)
        if execution_count is not None and execution_count in self.caches.out:
            self._shown_by[execution_count] = index
        # Most cells have none of these, and every cell waits for this.
        if "_" in source or "Out" in source:
            self._note_mentions(source)
        if self._tool_names:
            self._take_over_tool_names(source)
        self._holders.after_cell(index, source, self.shell)
        # What devices hold is judged by the cells that came one after another.
        if self._holders.suspected or not self.caches.unused or "torch" in sys.modules:
            self._judge(BUDGET_MS, None)
            self._tell()
        for listener in self.after_judgement:
            listener(index, source)

    def while_running(self) -> None:
        """Now and then while a cell runs, between two of its instructions: an interrupt that comes
        here is the cell's, and so is what a signal handler of the user's raises."""
        try:
            running = self._holders.while_running(self.shell) if _native.enabled() else []
            if running:
                self._conclude(_native.records()[-1].index, [*self._holders.facts, *running])
                self._tell()
        except Exception as error:
            if traceback_of_handler(error):
                raise
            self.say_failure(error)

    @_harmless
    def before_tool_request(self) -> None:
        """Before a silent or store_history=False request: names that it makes are the tool's."""
        self._names_before = set(self.shell.user_ns)

    @_harmless
    def after_tool_request(self) -> None:
        """After it."""
        before, self._names_before = self._names_before, None
        if before is None:
            return
        user_ns = self.shell.user_ns
        made = [name for name in user_ns if name not in before or name in self._tool_names]
        self._tool_names = {name: id(user_ns[name]) for name in made if type(name) is str}

    @_harmless
    def idle(self, interrupted: Callable[[], bool]) -> None:
        """Goes on with what did not fit into 30 ms, until done or interrupted() is true.

        Prints nothing.
        """
        if self._unfinished and _native.enabled():
            self._judge(None, functools.partial(self._search_goes_on, interrupted))
            for told in self.while_searching:
                told(True)

    @_harmless
    def rest(self, request_waits: Interrupted | None = None) -> None:
        """No cell runs and no request waits: what may be done by itself is done.

        request_waits: where the kernel can tell. Other kernels end no search by themselves: there it may
        be unfinished.
        """
        self.request_waits = request_waits
        if (request_waits is None or not self._unfinished) and _native.enabled():
            for listener in self.when_idle:
                listener()

    def _search_goes_on(self, interrupted: Callable[[], bool]) -> bool:
        for told in self.while_searching:
            told(False)
        return interrupted()

    @_harmless
    def refresh(self, interrupted: Interrupted | None = None) -> bool:
        """Judges again, without a limit: something was released, or somebody asks for the whole.

        False: it was interrupted, and the findings may be those of before.
        """
        if _native.enabled():
            self._holders.suspect()
            self._judge(None, interrupted)
        return not self._unfinished

    @_harmless
    def by_itself(self, step: Callable[[], Result]) -> Result:
        """Runs what nobody asked for; None where it failed."""
        return step()

    @property
    def is_unfinished(self) -> bool:
        """Whether a search did not fit into 30 ms."""
        return self._unfinished

    def look_again(self) -> None:
        """Something was let go of: the next judgement searches."""
        self._holders.suspect()

    def findings(self) -> list[_native.Finding]:
        """What is known to leak, most bytes first."""
        return _native.findings()

    def tool_names(self) -> set[str]:
        """Names in the user's namespace that a tool made and the user has not taken since."""
        user_ns = self.shell.user_ns
        return {
            n for n, made in self._tool_names.items() if n in user_ns and id(user_ns[n]) == made
        }

    def say_failure(self, error: BaseException) -> None:
        """Says once that xleak failed."""
        if self._failed:
            return
        self._failed = True
        kind = type(error).__name__
        print(
            f"xleak failed here ({kind}: {error}). Cells run on; what they leak may go unsaid.",
            file=sys.stderr,
        )

    # --- the steps ---------------------------------------------------------------------------

    def _underscore_entries(self) -> dict[str, int]:
        """The numbers of the entries that `_`, `__` and `___` stand for."""
        out, user_ns = self.caches.out, self.shell.user_ns
        latest = list(itertools.islice(reversed(out), len(UNDERSCORES)))
        return {
            name: number
            for name in UNDERSCORES
            for number in latest
            if name in user_ns and user_ns[name] is out[number]
        }

    def _note_mentions(self, source: str) -> None:
        mentions = find_mentions(source)
        self.mentioned |= mentions.numbers
        before = self._entries_before
        self.mentioned |= {before[name] for name in mentions.underscores if name in before}
        if mentions.everything:
            self.mentioned |= set(self.caches.out)

    def _take_over_tool_names(self, source: str) -> None:
        """A name of a tool's that the user's source has is in use."""
        for word in set(_WORD.findall(source)):
            self._tool_names.pop(word, None)

    def _judge(self, deadline_ms: float | None, interrupted: Callable[[], bool] | None) -> None:
        examined = self._examine(deadline_ms, interrupted)
        looked = examined and self._holders.look(self, self.last_cell, deadline_ms, interrupted)
        self._unfinished = not looked
        if examined:
            self._conclude(self.last_cell, self._holders.facts)

    def _conclude(self, cell: int, holders: list[_native.Holder]) -> None:
        entries = [] if self.caches.unused else map(self._fact, self.caches.entries())
        judgement = _native.judge(cell, list(entries), holders)
        for told in self.after_judging:
            told(judgement)

    def _examine(self, deadline_ms: float | None, interrupted: Callable[[], bool] | None) -> bool:
        """Whether the facts of the output cache are known; False: it takes another call."""
        if self.caches.unused:
            return True
        tools = self.tool_names()
        return self.caches.examine(tools, self.mentioned, deadline_ms, interrupted)

    def _fact(self, entry: _native.OutputFacts) -> _native.OutputEntry:
        return _native.OutputEntry(
            entry.number,
            self._shown_by.get(entry.number),
            entry.held_bytes + self._holders.graphs_of_outputs.get(entry.number, 0),
            False,
            printable(entry.type_name),
            [printable(holder) for holder in entry.holders],
        )

    def _tell(self) -> None:
        # A note waits until somebody asks.
        found = [finding for finding in self.findings() if finding.severity != "note"]
        self._notice.tell(found, self.settings.notice_bytes)


def printable(name: str) -> str:
    """A name that the user's code chose, fit for one line of output."""
    return "".join(c if c.isprintable() else "?" for c in name[:80])


_current: Watcher | None = None


def watcher() -> Watcher | None:
    """The one of this process, None before load."""
    return _current


def set_watcher(current: Watcher | None) -> None:
    """Called by attach and detach."""
    global _current
    _current = current
