"""Which of the last errors the shell alone has, so that their frames may go."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

from xleak import _native
from xleak.originals import getrefcount, threading
from xleak.shell.holders.exceptions import chain_of
from xleak.shell.tracebacks import LAST_TRACEBACK, error_entries, last_errors


@dataclass(frozen=True)
class Ownership:
    """By id of an exception the references to it but the shell's; `alone` those that only the shell
    leads to."""

    known: dict[int, int]
    alone: set[int]

    @classmethod
    def of(cls, shell: InteractiveShell, heap: _native.HeapSnapshot | None) -> Ownership:
        """As it is now. heap: as it is now; without it an error that its own frames hold counts as
        somebody else's."""
        known = other_references(shell)
        if heap is None:
            return cls(known, {it for it, count in known.items() if not count})
        return cls(known, _alone_by_search(shell, heap))

    def is_last(self, now: dict[int, int]) -> bool:
        """Whether these are still the last errors. now: other_references() now."""
        return bool(now) and now.keys() <= self.known.keys()

    def others(self, now: dict[int, int]) -> set[int]:
        """The ids of those that somebody else has, or took since."""
        return {it for it, count in now.items() if it not in self.alone or count > self.known[it]}


def other_references(shell: InteractiveShell) -> dict[int, int]:
    """By id of the last errors, and of those that led to them, the references to each that are neither
    the shell's nor such an error's."""
    shells = _references_of_the_shell(shell)
    errors = [*_chain(shell), object()]
    counts = [getrefcount(it) for it in errors]
    # The object has no other references than those of the counting.
    own = counts.pop()
    return {id(it): count - own - shells[id(it)] for it, count in zip(errors, counts, strict=False)}


def _references_of_the_shell(shell: InteractiveShell) -> Counter[int]:
    links: list[Any] = [BaseException.__cause__, BaseException.__context__]
    places = [entries.get(name) for entries, names in error_entries(shell) for name in names]
    errors = _chain(shell)
    counted = Counter(id(it) for it in places)
    counted.update(id(link.__get__(error)) for error in errors for link in links)
    # IPython's frame that ran the cell has the result, even after the next cell's took its place.
    results = {id(it): it for error in errors if (it := _result_in_frame(error)) is not None}
    results.pop(id(shell.last_execution_result), None)
    counted.update(id(it.error_in_exec) for it in results.values())
    return counted


def _result_in_frame(error: BaseException) -> ExecutionResult | None:
    traceback: Any = BaseException.__traceback__
    outermost = traceback.__get__(error)
    if outermost is None or outermost.tb_frame.f_code is not InteractiveShell.run_code.__code__:
        return None
    found = outermost.tb_frame.f_locals.get("result")
    return found if type(found) is ExecutionResult else None


def _chain(shell: InteractiveShell) -> list[BaseException]:
    found: dict[int, BaseException] = {}
    for error in last_errors(shell):
        if _native.is_kind_of(error, BaseException):
            found |= {id(linked): linked for linked in chain_of(error)}
    return list(found.values())


def _alone_by_search(shell: InteractiveShell, heap: _native.HeapSnapshot) -> set[int]:
    shells = [LAST_TRACEBACK, f"a running function of thread {threading.get_ident()}"]
    return {id(it) for it in _chain(shell) if not heap.ways_besides(it, shells, 1)}
