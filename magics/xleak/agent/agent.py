"""When xleak releases by itself: once the kernel is idle, a slice at a time, until somebody asks for something."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xleak import _native
from xleak.agent.releases import Act, Release, Releases
from xleak.originals import os
from xleak.shell.entry import entry
from xleak.shell.settings import RELEASABLE

if TYPE_CHECKING:
    from xleak.shell.watcher import Interrupted, Watcher

# Who runs cells one after another sends the next one sooner.
_IDLE_SECONDS = 0.2

Known = Callable[[], Mapping[str, _native.Finding]]


@dataclass
class Released:
    """What was done: ids of findings that were released, bytes by allocator, and what to read."""

    findings: list[str] = field(default_factory=list)
    freed: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


class Agent:
    """Carries out the policy `auto`: each finding is tried once after a cell."""

    def __init__(
        self,
        watcher: Watcher,
        known: Known,
        tell: Callable[[Released], None],
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        """known: tells the findings by their ids. loop: what runs between cells; without one all is done at
        once, after the cell."""
        self._watcher = watcher
        self._known = known
        self._tell = tell
        self._loop = loop
        self._releases = Releases(watcher)
        self._tried: dict[str, int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._slices: Iterator[None] = iter(())
        self._pid = os.getpid()

    def wake(self) -> None:
        """No cell runs any more, and all is known of those that ran."""
        self.close()
        settings = self._watcher.settings
        if "auto" not in (settings.policy, *settings.rule_policies.values()):
            return
        # Who sends the next request at once waits for this: what there is to do is asked later.
        if self._loop is None:
            for _ in self._work(lambda: False):
                pass
        else:
            self._slices = self._work(self._interrupted)
            self._timer = self._loop.call_later(_IDLE_SECONDS, self._step)

    @property
    def is_busy(self) -> bool:
        """Whether there is something that it is about to do."""
        return self._timer is not None

    def close(self) -> None:
        """What was about to be done is not."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._slices = None, iter(())

    # --- slices ------------------------------------------------------------------------------

    @entry()
    def _step(self) -> None:
        self._timer = None
        # The loop runs in cells that await, too.
        if _native.running_cell() is not None or os.getpid() != self._pid:
            return
        if not self._interrupted() and self._watcher.by_itself(self._next):
            assert self._loop is not None
            self._timer = self._loop.call_later(0, self._step)
        elif self._interrupted():
            # ipykernel does not say when it has served its requests.
            self.wake()

    def _next(self) -> bool:
        return next(self._slices, self) is not self

    def _interrupted(self) -> bool:
        waits = self._watcher.request_waits
        return waits is not None and waits()

    def _work(self, interrupted: Interrupted) -> Iterator[None]:
        if not self._untried(RELEASABLE):
            return
        for codes, why, act in self._releases.kinds():
            if not self._untried(codes):
                continue
            # What a task of the user's has taken since is known before anything goes.
            if not self._watcher.refresh(interrupted):
                return
            if (found := self._untried(codes)) and self._release(found, why, act, interrupted):
                yield
                self._watcher.refresh(interrupted)
            yield

    def _release(
        self, found: Mapping[str, _native.Finding], why: str, act: Act, interrupted: Interrupted
    ) -> bool:
        """Whether anything went."""
        releases = act(list(found.values()), interrupted)
        if releases or not interrupted():
            self._tried |= dict.fromkeys(found, self._watcher.last_cell)
        ids = {(it.code, it.key): key for key, it in found.items()}
        done = Released()
        for release in releases:
            done.findings += [ids[it.code, it.key] for it in release.findings]
            done.lines.append(self._note(release, why))
            for owner, size in release.freed.items():
                done.freed[owner] = done.freed.get(owner, 0) + size
        if releases:
            self._tell(done)
        return bool(releases)

    def _note(self, release: Release, why: str) -> str:
        """Writes the journal; a line to read."""
        what = ", ".join(dict.fromkeys(it.key for it in release.findings))
        codes = ", ".join(dict.fromkeys(it.code for it in release.findings))
        kept, freed = release.kept_bytes, release.freed
        add = self._watcher.journal.add
        add("agent", what, f"{codes}: {why}", freed, release.kept, kept)
        if release.kept is not None:
            return f"{what}: {_native.human(kept)} kept for undo"
        came = ", ".join(f"{_native.human(size)} to {owner}" for owner, size in freed.items())
        return f"{what}: came back: {came}" if came else f"{what}: no allocator's counter moved"

    def _untried(self, codes: Sequence[str]) -> dict[str, _native.Finding]:
        """Those of these rules that go by themselves and were not tried since the last cell."""
        policy_of, last = self._watcher.settings.policy_of, self._watcher.last_cell
        known = self._known()
        self._tried = {key: cell for key, cell in self._tried.items() if key in known}
        return {
            key: it
            for key, it in known.items()
            if it.code in codes
            and it.basis == "measured"
            and policy_of(it.code) == "auto"
            and self._tried.get(key) != last
        }
