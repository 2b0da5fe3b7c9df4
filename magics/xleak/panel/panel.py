"""The kernel's side of the panels: who is there, what they are told, what they get."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import comm

from xleak import _native
from xleak.agent.agent import Agent, Released
from xleak.originals import os, threading
from xleak.panel import actions, answers, messages
from xleak.panel.messages import TARGET, Message
from xleak.panel.progress import Progress
from xleak.panel.repairs import repairs
from xleak.panel.requests import MOST_IN_WINDOW, REQUESTS, Gate, Refused, Request, id_of, read
from xleak.panel.told import ToldFindings
from xleak.shell.entry import entry
from xleak.shell.journal import Entry, entry_shape
from xleak.shell.readings import python_count
from xleak.shell.rests import running_loop
from xleak.verdict import cell_shape

if TYPE_CHECKING:
    from comm.base_comm import BaseComm
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.shell.flight import Flight
    from xleak.shell.watcher import Watcher

# A page that is loaded again says no good-bye: of more than these the oldest is gone.
_MOST_FRONTS = 16
# More would not fit through a Jupyter server at once.
_MOST_CELLS = 1000
# Soon enough for who clicked during a cell.
_LOOK_AGAIN_SECONDS = 0.1

# (ids of the comms that are told what a cell does while it runs).
TellLive = Callable[[list[str]], None]


class _Front:
    """One panel, as far as the kernel knows it."""

    def __init__(self, comm: BaseComm) -> None:
        self.comm = comm
        self.subscribed = False
        self.gate = Gate()
        self.last_id = 0
        self.knows_last_session = False
        self.count = 0
        """The number of findings that it was sent last."""


class Panel:
    """Tells the subscribed panels what the watcher learns, and carries out what they ask for."""

    def __init__(
        self,
        shell: InteractiveShell,
        watcher: Watcher,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        tell_live: TellLive | None = None,
    ) -> None:
        """loop: runs between cells, and looks continue on it; default: the one that runs now. tell_live:
        reports to subscribed panels what a running cell does."""
        self._shell = shell
        self._watcher = watcher
        self._loop = loop or running_loop()
        self._capabilities = [*REQUESTS, *([] if self._loop is None else ["late_findings"])]
        self._tell_live = tell_live
        self._live_ids: list[str] = []
        self._search: Progress | None = None
        self._fronts: dict[str, _Front] = {}
        self._told = ToldFindings(watcher.dismissed, functools.partial(repairs, shell))
        self._pid = os.getpid()
        self._agent = Agent(watcher, self._told.by_id, self._tell_released, self._loop)
        self._waiting: deque[tuple[_Front, Any, Any]] = deque()
        self._flight: Flight | None = None
        self._released = False

    def open(self) -> None:
        """From now on front ends can open comms."""
        comm.get_comm_manager().register_target(TARGET, self._opened)
        self._watcher.after_account.append(self._tell_cell)
        self._watcher.after_failure.append(
            lambda index, told: self._send_all(messages.postmortem(index, told))
        )
        self._watcher.after_judging.append(self._tell_findings)
        self._watcher.while_searching.append(self._tell_search)
        self._watcher.when_idle.append(self._agent.wake)
        self._watcher.journal.listeners.append(self._tell_journal)
        self._watcher.settings.observe(self._tell_policy, "policy")
        self._watcher.settings.observe(self._tell_rule_policies, "rule_policies")

    def close(self) -> None:
        """Closes every comm; no other can be opened."""
        # Another manager may have come in the meantime.
        with contextlib.suppress(KeyError):
            comm.get_comm_manager().unregister_target(TARGET, self._opened)
        self._agent.close()
        self._watcher.settings.unobserve(self._tell_policy, "policy")
        self._watcher.settings.unobserve(self._tell_rule_policies, "rule_policies")
        for front in list(self._fronts.values()):
            self._drop(front)

    def tell_after_session(self, flight: Flight) -> None:
        """A panel that subscribes hears once how the kernel before this one ended."""
        self._flight = flight

    # --- what they are told ------------------------------------------------------------------

    def _tell_cell(self, index: int) -> None:
        subscribed = self._subscribed()
        record = _native.record(index) if subscribed else None
        if record is not None:
            self._send_all(messages.cell(cell_shape(record)))

    def _tell_findings(self, judgement: _native.Judgement) -> None:
        self._tell_count()
        subscribed = self._subscribed()
        if not subscribed:
            return
        added, changed, resolved = self._told.changes(judgement)
        if added or changed or resolved:
            self._send_findings(added=added, changed=changed, resolved=resolved)

    def _tell_count(self) -> None:
        """Sends the number of findings to comms that have not subscribed, where it has changed."""
        closed = [front for front in list(self._fronts.values()) if not front.subscribed]
        count = self._told.count() if closed else 0
        for front in closed:
            if front.count != count:
                front.count = count
                self._send(front, messages.findings_count(count))

    def _tell_search(self, ended: bool) -> None:
        if self._search is None:
            self._search = Progress(lambda share: self._send_all(messages.progress(None, share)))
        if not ended:
            self._search.at(None)
            return
        if self._search.told:
            self._send_all(messages.progress(None, 1))
        self._search = None

    def tell_guard(self, note: _native.GuardNote) -> None:
        """For kernels where no thread of xleak's own tells it."""
        self._send_all(messages.guard(note))

    def _tell_policy(self, change: Any) -> None:
        self._send_all(messages.policy(change["new"]))

    def _tell_newcomer(self, front: _Front) -> None:
        """What was told before it came and is still so."""
        if (resident := _native.resident_bytes()) is not None:
            self._send(front, messages.process(resident))
        if rules := self._watcher.settings.rule_policies:
            self._send(front, messages.rule_policies(rules))
        for note in _native.near_limits():
            self._send(front, messages.guard(note))
        for index, told in self._watcher.postmortems.items():
            self._send(front, messages.postmortem(index, told))
        self._tell_last_session(front)

    def _tell_last_session(self, front: _Front) -> None:
        if self._flight is None or self._flight.before is None or front.knows_last_session:
            return
        front.knows_last_session = True
        self._send(front, messages.last_session(self._flight.before.record))
        self._flight.mark_told()

    def _tell_rule_policies(self, change: Any) -> None:
        self._send_all(messages.rule_policies(change["new"]))

    def _tell_released(self, released: Released) -> None:
        freed, lines = released.freed, released.lines
        self._send_all(messages.released(released.findings, freed, lines))
        self._tell_process()

    def _tell_process(self) -> None:
        self._released = False
        resident = _native.resident_bytes() if self._subscribed() else None
        if resident is not None:
            self._send_all(messages.process(resident))

    def _tell_journal(self, entries: list[Entry]) -> None:
        self._released = True
        if self._subscribed():
            self._send_all(messages.journal(None, map(entry_shape, entries)))

    def _subscribed(self) -> list[_Front]:
        return [front for front in list(self._fronts.values()) if front.subscribed]

    def _send_all(self, message: Message) -> None:
        for front in self._subscribed():
            self._send(front, message)

    def _send(self, front: _Front, message: Message) -> None:
        if os.getpid() != self._pid:
            return
        try:
            front.comm.send(message)
        except Exception:
            # Nobody is there any more.
            self._forget(front)

    # --- comms -------------------------------------------------------------------------------

    @entry()
    def _opened(self, opened: BaseComm, message: Any) -> None:
        front = _Front(opened)
        self._fronts[opened.comm_id] = front
        opened.on_msg(functools.partial(self._received, front))
        opened.on_close(functools.partial(self._closed, front))
        self._send(front, messages.hello(self._capabilities))
        self._tell_count()
        if len(self._fronts) > _MOST_FRONTS:
            self._drop(next(iter(self._fronts.values())))

    def _forget(self, front: _Front) -> None:
        self._fronts.pop(front.comm.comm_id, None)
        # Its callbacks would leave a reference cycle, which keeps the agent from collecting garbage.
        front.comm.on_msg(None)
        front.comm.on_close(None)
        self._choose_live()

    def _choose_live(self) -> None:
        """Live samples go to the panels that are open now."""
        ids = [front.comm.comm_id for front in self._subscribed()]
        if self._tell_live is not None and ids != self._live_ids:
            self._live_ids = ids
            self._tell_live(ids)

    def _drop(self, front: _Front) -> None:
        self._forget(front)
        try:
            front.comm.close()
        except Exception:
            return

    @entry()
    def _closed(self, front: _Front, message: Message) -> None:
        self._forget(front)

    @entry()
    def _received(self, front: _Front, message: Message) -> None:
        data, buffers = message["content"].get("data"), message.get("buffers")
        if threading.current_thread() is threading.main_thread():
            self._answer(front, data, buffers)
        elif self._loop is not None:
            # One of ipykernel's subshells.
            self._waiting.append((front, data, buffers))
            self._loop.call_soon_threadsafe(self._answer_waiting, self._loop)

    @entry()
    def _answer_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        """On the main thread, and while no cell runs: one that awaits something lets this in."""
        latest = _native.latest_record()
        if latest is not None and latest.status == "running":
            loop.call_later(_LOOK_AGAIN_SECONDS, self._answer_waiting, loop)
            return
        while self._waiting:
            self._answer(*self._waiting.popleft())

    def _answer(self, front: _Front, data: Any, buffers: Any) -> None:
        counted = front.gate.count()
        if counted > MOST_IN_WINDOW + 1:
            return
        try:
            if counted > MOST_IN_WINDOW:
                raise Refused("Too many requests: what comes within two seconds is dropped.")
            with python_count.excluding():
                answer = self._carry_out(front, self._new(front, read(data, buffers)))
        except Refused as why:
            answer = messages.error(id_of(data), str(why))
        except (Exception, KeyboardInterrupt) as error:
            answer = messages.error(id_of(data), f"This failed with {type(error).__name__}.")
        if answer is not None:
            self._send(front, answer)
            if answer["kind"] == "session":
                self._tell_newcomer(front)
            self._tell_count()
        if self._released:
            # After what the request itself needed is freed.
            self._tell_process()

    def _new(self, front: _Front, request: Request) -> Request:
        """The request itself, where its id says that it did not come before."""
        if request.id <= front.last_id:
            raise Refused(f"The id of a request must be above the last one, {front.last_id}.")
        front.last_id = request.id
        return request

    # --- requests ----------------------------------------------------------------------------

    def _carry_out(self, front: _Front, request: Request) -> Message:
        arguments = request.arguments
        if request.kind in ("subscribe", "unsubscribe"):
            subscribes = request.kind == "subscribe"
            if front.subscribed != subscribes:
                # It is about to get all findings, or has dropped them.
                front.count = 0
            front.subscribed = subscribes
            self._choose_live()
            if not front.subscribed:
                return messages.done(request.id)
            return self._session(request)
        if request.kind == "findings":
            # The answer waits for the look that is due.
            self._watcher.idle(lambda: False)
            told = self._told
            return messages.findings(request.id, added=told.all(), dismissed_now=told.dismissed)
        if request.kind == "dismiss":
            return self._dismiss(request, **arguments)
        if request.kind == "show_dismissed":
            self._send_findings(added=self._told.show_dismissed())
            return messages.done(request.id)
        if request.kind == "set_policy":
            self._watcher.settings.policy = arguments["policy"]
            return messages.done(request.id)
        if request.kind == "journal":
            entries = self._watcher.journal.entries
            return messages.journal(request.id, map(entry_shape, entries))
        if request.kind == "undo":
            return messages.done(request.id, lines=[actions.undo(self._watcher, **arguments)])
        if request.kind in ("names", "path", "census", "devices"):
            return messages.answer(request.id, request.kind, self._asked(front, request))
        if request.kind == "run_fix":
            outcome = self._run_fix(**arguments)
        elif request.kind == "xdel":
            outcome = actions.xdel(**arguments)
        else:
            outcome = actions.release(**arguments)
        return messages.done(request.id, *outcome)

    def _session(self, request: Request) -> Message:
        records = [record for record in _native.records() if record.status != "running"]
        told = self._watcher.postmortems
        cells = [cell_shape(it, told.get(it.index)) for it in records[-_MOST_CELLS:]]
        left_out = len(records) - len(cells)
        policy = self._watcher.settings.policy
        known, dismissed = self._told.all(), self._told.dismissed
        return messages.session(request.id, cells, left_out, known, policy, dismissed)

    def _asked(self, front: _Front, request: Request) -> Message:
        watcher = self._watcher
        progress = Progress(lambda share: self._send(front, messages.progress(request.id, share)))
        if request.kind == "names":
            return answers.names(watcher, progress)
        if request.kind == "path":
            return answers.path(watcher, progress, **request.arguments)
        if request.kind == "census":
            return answers.census(watcher, progress, **request.arguments)
        return answers.devices()

    def _dismiss(self, request: Request, finding: str) -> Message:
        self._told.dismiss(self._finding(finding))
        self._send_findings(dismissed=[finding])
        return messages.done(request.id)

    def _send_findings(self, **changes: Any) -> None:
        now = self._told.dismissed
        self._send_all(messages.findings(**changes, dismissed_now=now))

    def _run_fix(self, finding: str, fix: int) -> actions.Outcome:
        if not _native.enabled():
            raise Refused("Cells are not watched now, so nobody knows whether this is still so.")
        # What held it alone when it was found may not do so any more.
        self._watcher.refresh()
        found, journal = self._finding(finding), self._watcher.journal
        if fix >= len(found.fixes):
            raise Refused("This finding has no such fix.")
        try:
            with journal.as_one() as gone:
                freed, lines = actions.run_fix(self._shell, found.fixes[fix])
            what = ", ".join(dict.fromkeys(gone)) or found.key
            journal.add("you", what, f"{found.code}, in the panel", freed)
            return freed, lines
        finally:
            self._watcher.refresh()

    def _finding(self, finding_id: str) -> _native.Finding:
        if not self._told.was_told(finding_id):
            raise Refused("This session has no finding of that id.")
        found = self._told.find(finding_id)
        if found is None:
            raise Refused("This finding is already resolved.")
        return found
