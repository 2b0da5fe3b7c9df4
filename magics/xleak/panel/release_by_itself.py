"""The policy `auto`: gives back what no name of the user's reaches, between cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xleak import _native
from xleak.panel import actions
from xleak.panel.requests import Refused

if TYPE_CHECKING:
    from xleak.shell.watcher import Watcher

_OUTPUTS = "big_value_in_output_cache"
_TRACEBACK = "traceback_pins_frames"
# The collector takes what their fixes take, sooner or later.
_GARBAGE = {"buffer_module_cycle", "self_capturing_callback", "unmanaged_ctx_tensor"}


@dataclass
class Released:
    """What was done: ids of findings whose fixes ran, bytes by allocator, and what to read."""

    findings: list[str] = field(default_factory=list)
    freed: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


class SelfRelease:
    """Runs the fixes that change nothing that the user can still name; each once after a cell."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._tried: dict[str, int] = {}

    def __call__(self, known: Callable[[], Mapping[str, _native.Finding]]) -> Released:
        """Does what there is to do now. known: tells the findings by their ids."""
        released = Released()
        if self._untried(known()):
            # A task of the user's may have taken since what the last cell left.
            self._watcher.refresh()
            for key, finding in self._untried(known()).items():
                self._tried[key] = len(_native.records())
                self._release(key, finding, released)
            self._watcher.refresh()
        return released

    def _untried(self, known: Mapping[str, _native.Finding]) -> dict[str, _native.Finding]:
        cell = len(_native.records())
        self._tried = {key: at for key, at in self._tried.items() if key in known}
        untried = {key: it for key, it in known.items() if self._tried.get(key) != cell}
        return {key: it for key, it in untried.items() if self._may_go(it)}

    def _may_go(self, finding: _native.Finding) -> bool:
        if finding.basis != "measured" or not finding.fixes:
            return False
        if finding.slug == _OUTPUTS:
            return not self._is_in_use(finding)
        if finding.slug == _TRACEBACK:
            # Right after an error %debug and %tb may still want it.
            return _native.records()[-1].status == "ok"
        return finding.slug in _GARBAGE

    def _is_in_use(self, finding: _native.Finding) -> bool:
        """Whether `_` still means an output entry, or something else than Out has it by now."""
        caches = self._watcher.caches
        numbers = {f"Out[{entry.number}]": entry.number for entry in caches.entries()}
        return finding.key not in numbers or caches.is_recent(numbers[finding.key])

    def _release(self, key: str, finding: _native.Finding, released: Released) -> None:
        try:
            freed, lines = actions.run_fix(self._watcher.shell, finding.fixes[0])
        except Refused as why:
            released.lines.append(f"{finding.key}: {why}")
            return
        released.findings.append(key)
        released.lines += [f"{finding.key}: {line}" for line in lines]
        for owner, size in freed.items():
            released.freed[owner] = released.freed.get(owner, 0) + size
