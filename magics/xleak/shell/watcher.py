"""What follows the cells of one shell."""

from __future__ import annotations

import functools
import re
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from xleak import _native
from xleak.originals import time
from xleak.shell.births import shown_line
from xleak.shell.caches import UNDERSCORES, OutputCaches
from xleak.shell.cell_outputs import CellOutputs, TerminalOutputs
from xleak.shell.entry import entry
from xleak.shell.holders.search import Holders
from xleak.shell.journal import Journal
from xleak.shell.mentions import find_mentions
from xleak.shell.notice import Notice
from xleak.shell.outputs import OutputFacts
from xleak.shell.own_cells import is_own
from xleak.shell.readings import python_count
from xleak.shell.settings import settings_of
from xleak.shell.signals import traceback_of_handler

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.postmortem import Postmortem

# Between cells that are queued back to back a look takes at most this share of the time since the last
# rest, and none before so many seconds: 20 ms after the first two.
_WITHOUT_REST_SECONDS = 2.0
_SHARE_OF_CELLS = 0.01

# A cell that matters while it runs does so for minutes.
WHILE_RUNNING_SECONDS = 30.0

_WORD = re.compile(r"[^\W\d]\w*")

# (index of the cell, its source), called once the cell has ended, before its reply.
Listener = Callable[[int, str], None]
# (source), called before the account of a cell begins.
Beginning = Callable[[str], None]
# (source), whether something will be shown under a cell once it has ended.
Showing = Callable[[str], bool]
# (type of the error), called before IPython shows it.
Raised = Callable[[type[BaseException]], None]
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
        except RecursionError:
            # The steps below may need more room than is left.
            _native.cut_short()
            return None
        except (Exception, KeyboardInterrupt) as error:
            if of_handler := traceback_of_handler(error):
                traceback.print_exception(type(error), error, of_handler, file=sys.stderr)
            else:
                self.say_failure(error)
            return None

    return guarded  # type: ignore[return-value]


class Watcher:
    """What follows the cells of one shell: facts after each cell, notices, late findings."""

    def __init__(self, shell: InteractiveShell, outputs: CellOutputs | None = None) -> None:
        """outputs: of the front end's cells; None: the shell is in a terminal."""
        self.shell = shell
        self.settings = settings_of(shell)
        self.caches = OutputCaches(shell)
        self.mentioned: set[int] = set()
        self.journal = Journal(self.settings, self.mentioned)
        self.before_run: list[Beginning] = []
        self.before_traceback: list[Raised] = []
        self.after_account: list[Ending] = []
        self.after_judging: list[Judged] = []
        self.after_cells: list[Listener] = []
        self.showing: list[Showing] = []
        """Of those listeners that show something under a cell, for which they do."""
        self.while_searching: list[Searching] = []
        self.when_idle: list[Idle] = []
        self.request_waits: Interrupted | None = None
        self.after_failure: list[Failed] = []
        self.postmortems: dict[int, Postmortem] = {}
        self.dismissed: set[tuple[str, str]] = set()
        """By code and key the findings that the user dismissed; those that are resolved are removed."""
        self._holders = Holders()
        self._notice = Notice(outputs or TerminalOutputs())
        self._has_news = False
        self._shown_by: dict[int, int] = {}
        self._tool_names: dict[str, int] = {}
        self._tools_of_look: set[str] | None = None
        """While a look goes on: what tool_names() returns."""
        self._names_before: set[str] | None = None
        self._entries_before: dict[str, int] = {}
        self.next_count: int | None = None
        """The n of In[n] of the cell that comes, or runs."""
        self.last_cell = 0
        """Index of the cell that ended last."""
        self._unfinished = False
        self._ended_at = 0.0
        """When the first cell ended that no look has followed."""
        self._slice_after = _WITHOUT_REST_SECONDS
        self._failed = False

    @_harmless
    def about_to_run(self, source: str, execution_count: int) -> None:
        """A cell comes, its account has not begun. source: as the user wrote it."""
        self.next_count = execution_count
        if _native.enabled():
            if self._unfinished:
                self._look_between_cells()
            self._holders.before_cell(source, self.shell)
            for listener in self.before_run:
                listener(source)

    @_harmless
    def before_cell(self) -> None:
        """Prints what waits for the output of a cell (its top line). Called inside the cell's output,
        before user code."""
        self._names_before = None
        if not self.caches.unused:
            self._entries_before = self._underscore_entries()
        self._tell(in_cell=True)

    @_harmless
    def about_to_show(self, kind: type[BaseException]) -> None:
        """A cell failed with an error of that type, and IPython is about to show it."""
        for listener in self.before_traceback:
            listener(kind)

    @_harmless
    def may_show(self, source: str) -> bool:
        """Whether after_cell() may show something under the cell, and has to come before its reply."""
        return self._has_news or any(shows(source) for shows in self.showing)

    @_harmless
    def after_cell(self, index: int, source: str, execution_count: int | None) -> None:
        """Notes what the cell did, by counters alone: the look comes after its reply, by `idle`.

        index: of _native.records(). source: as the user wrote it.
        """
        if is_own(self.shell, source):
            _native.mark_own(index)
        if not _native.enabled():
            return
        self.last_cell = index
        for told in self.after_account:
            told(index)
        if execution_count is not None and execution_count in self.caches.out:
            self._shown_by[execution_count] = index
            self.caches.note_shown(execution_count)
        # Most cells have none of these, and every cell waits for this.
        if "_" in source or "Out" in source:
            self._note_mentions(source)
        if self._tool_names:
            self._take_over_tool_names(source)
        self._holders.after_cell(index, source, self.shell)
        # What devices hold is judged by the cells that came one after another.
        if self._holders.suspected or not self.caches.unused or "torch" in sys.modules:
            self._look_is_due()
        for listener in self.after_cells:
            listener(index, source)
        # Findings of a look that a magic of ours in the cell has asked for.
        self._tell(in_cell=True)

    @entry()
    def while_running(self) -> None:
        """Now and then while a cell runs, between two of its instructions: an interrupt that comes
        here is the cell's, and so is what a signal handler of the user's raises."""
        try:
            running = self._holders.while_running(self.shell) if _native.enabled() else []
            if running:
                latest = _native.latest_record()
                index = latest.index if latest is not None else self.last_cell
                self._conclude(index, [*self._holders.facts, *running])
                self._tell(in_cell=True)
        except Exception as error:
            if traceback_of_handler(error):
                raise
            self.say_failure(error)

    @_harmless
    def before_tool_request(self) -> None:
        """Before a silent or store_history=False request: names that it makes are the tool's."""
        self._names_before = set(_native.names_in(self.shell.user_ns))

    @_harmless
    def after_tool_request(self) -> None:
        """After it."""
        before, self._names_before = self._names_before, None
        if before is None:
            return
        tools = self._tool_names
        self._tool_names = {
            name: id(value)
            for name, value in _native.items_of(self.shell.user_ns)
            if type(name) is str and (name not in before or name in tools)
        }

    @_harmless
    def idle(self, interrupted: Interrupted) -> bool:
        """Looks at what the cells since the last look have left, until done or interrupted() is true.
        What is found then stands under its cell, where the client reads on. Whether it is done."""
        if self._unfinished and _native.enabled():
            self._judge(functools.partial(self._search_goes_on, interrupted))
            for told in self.while_searching:
                told(True)
            self._tell(in_cell=_native.running_cell() is not None)
        return not self.is_unfinished

    @_harmless
    def look_at_once(self) -> None:
        """The same in the output of the cell that has ended, without interruption; then rest()."""
        if _native.enabled():
            if self._unfinished:
                self._judge(None)
            self._tell(in_cell=True)
        self.rest()

    @_harmless
    def rest(self, request_waits: Interrupted | None = None) -> None:
        """No cell runs and no look is due: what xleak does by itself may start.

        request_waits: None where the kernel does not know it.
        """
        self.request_waits = request_waits
        if not self._unfinished and _native.enabled():
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
            self._judge(interrupted)
        return not self._unfinished

    @_harmless
    def settle(self) -> None:
        """Judges everything as if one more quiet cell had ended: what has to outlive its cell to be a leak has then
        done so."""
        self.refresh()
        if _native.enabled():
            self._holders.suspect()
            self._judge(None, self.last_cell + 1)

    @_harmless
    def by_itself(self, step: Callable[[], Result]) -> Result:
        """Runs what nobody asked for; None where it failed."""
        return step()

    @property
    def is_unfinished(self) -> bool:
        """Whether a look is due, or was cut off."""
        return self._unfinished and _native.enabled()

    def look_again(self) -> None:
        """Something was released: the next look searches."""
        self._holders.suspect()
        self._look_is_due()

    @property
    def outputs(self) -> list[OutputFacts]:
        """What the entries of Out keep that no name reaches, as of the last look."""
        return self._holders.outputs

    def findings(self) -> list[_native.Finding]:
        """What is known to leak, most bytes first."""
        return _native.findings()

    def undismissed(self) -> list[_native.Finding]:
        """Those that nobody has dismissed."""
        return [it for it in self.findings() if (it.code, it.key) not in self.dismissed]

    def tool_names(self) -> set[str]:
        """Names in the user's namespace that a tool made and the user has not taken since; one answer for the whole
        of a look."""
        if self._tools_of_look is not None:
            return self._tools_of_look
        tools = self._tool_names
        names = _native.items_of(self.shell.user_ns) if tools else []
        return {name for name, value in names if type(name) is str and tools.get(name) == id(value)}

    def say_failure(self, error: BaseException) -> None:
        """Says once that xleak failed. A recursion limit of the user's is no failure: who asks hears of it."""
        if isinstance(error, RecursionError):
            _native.cut_short()
            return
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
        latest = _native.items_of(self.caches.out, -len(UNDERSCORES))
        meant = {name: _native.value_at(self.shell.user_ns, name) for name in UNDERSCORES}
        return {
            name: number
            for name, value in meant.items()
            for number, shown in reversed(latest)
            if value is shown and type(number) is int
        }

    def _note_mentions(self, source: str) -> None:
        mentions = find_mentions(source)
        self.mentioned |= mentions.numbers
        before = self._entries_before
        self.mentioned |= {before[name] for name in mentions.underscores if name in before}
        if mentions.everything:
            self.mentioned |= set(self.caches.entries())

    def _take_over_tool_names(self, source: str) -> None:
        """A name of a tool's that the user's source has is in use."""
        for word in set(_WORD.findall(source)):
            self._tool_names.pop(word, None)

    def _look_is_due(self) -> None:
        if not self._unfinished:
            self._ended_at, self._slice_after = time.monotonic(), _WITHOUT_REST_SECONDS
        self._unfinished = True

    def _look_between_cells(self) -> None:
        """Cells are queued back to back: now and then a look takes a little time between them. One that
        was cut off starts again, so each has more time than the one before."""
        without_rest = time.monotonic() - self._ended_at
        if without_rest >= self._slice_after:
            self._slice_after = 2 * without_rest
            until = time.monotonic() + _SHARE_OF_CELLS * without_rest
            self.idle(lambda: time.monotonic() >= until)

    def _judge(self, interrupted: Interrupted | None, cell: int | None = None) -> None:
        """cell: the index of the last cell that ended, where it is another than that."""
        self._tools_of_look = self.tool_names()
        try:
            with python_count.excluding():
                done = self._look(interrupted, self.last_cell if cell is None else cell)
        finally:
            self._tools_of_look = None
        if not done:
            self._look_is_due()
            return
        self._unfinished = False
        self._conclude(self.last_cell, self._holders.facts)

    def _look(self, interrupted: Interrupted | None, cell: int) -> bool:
        if not self.caches.unused and self.caches.moved(self.tool_names(), self.mentioned):
            self._holders.suspect_outputs()
        return self._holders.look(self, cell, interrupted)

    def _conclude(self, cell: int, holders: list[_native.Holder]) -> None:
        judgement = _native.judge(cell, [self._entry(it) for it in self.outputs], holders)
        self.dismissed -= {(it.code, it.key) for it in judgement.resolved}
        if judgement.added or judgement.changed or judgement.resolved:
            self._has_news = True
        for told in self.after_judging:
            told(judgement)

    def _entry(self, facts: OutputFacts) -> _native.OutputEntry:
        return _native.OutputEntry(
            facts.number,
            self._shown_by.get(facts.number),
            facts.held_bytes,
            False,
            printable(facts.type_name),
            [printable(holder) for holder in facts.holders],
            facts.together,
            shown_line(self.shell, facts.number),
        )

    def _tell(self, *, in_cell: bool) -> None:
        if not self._has_news or not _native.enabled():
            return
        # A note waits until somebody asks.
        found = [finding for finding in self.findings() if finding.severity != "note"]
        all_told = self._notice.tell(found, self.settings.notice_bytes, in_cell=in_cell)
        self._has_news = not all_told


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
