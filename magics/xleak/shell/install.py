"""Puts xleak into an IPython shell, and takes it out again."""

from __future__ import annotations

import atexit
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.magics.register import register
from xleak.panel.panel import Panel
from xleak.shell.cell_outputs import CellOutputs, IpykernelOutputs
from xleak.shell.events import CellEvents
from xleak.shell.fields import module_of_callable
from xleak.shell.flight import Flight
from xleak.shell.guard import Guard, Write
from xleak.shell.ledger import use_ledger
from xleak.shell.out_of_memory import watch_for_failures
from xleak.shell.watcher import WHILE_RUNNING_SECONDS, Watcher, set_watcher, watcher

if TYPE_CHECKING:
    import asyncio

    from IPython.core.interactiveshell import InteractiveShell

    from xleak.panel.panel import TellLive


@dataclass
class _Installation:
    """What was changed in the shell, to change it back."""

    magics: dict[str, dict[str, Any]]
    transformers: list[Any] = field(default_factory=list)
    events: CellEvents | None = None
    panel: Panel | None = None
    flight: Flight | None = None


_installed: _Installation | None = None
_is_registered = False


def attach(
    shell: InteractiveShell,
    *,
    events: bool,
    outputs: CellOutputs | None = None,
    loop: asyncio.AbstractEventLoop | None = None,
    tell_live: TellLive | None = None,
    write: Write | None = None,
) -> Watcher:
    """Registers the magics and the watcher; a second call returns the first one's watcher.

    events: account the cells by IPython's own events (``%load_ext``). The kernel brackets its cells
    itself and passes False, and how it reaches the outputs of cells that have ended. loop: what runs
    between its cells; else the one that runs now. tell_live: reports to the comms of these ids what a
    running cell does. write: writes under the running cell, whatever it did to the streams.
    """
    global _installed, _is_registered
    current = watcher()
    if current is not None:
        return current
    under_load_ext = IpykernelOutputs(shell) if events and hasattr(shell, "kernel") else None
    if not _is_registered:
        # Callbacks that come after the watcher are taken for a cell's.
        atexit.register(_native.drop_flight_record)
        # For good: to take it out again would compare it with those of the user's.
        _is_registered = True
    current = Watcher(shell, outputs or under_load_ext)
    set_watcher(current)
    _native.follow_lines(shell.user_global_ns)
    _native.call_while_running(current.while_running, WHILE_RUNNING_SECONDS)
    guard = Guard(current, write)
    shell.configurables.append(current.settings)
    tables = shell.magics_manager.magics
    _installed = _Installation(
        {kind: dict(table) for kind, table in tables.items()},
        list(shell.input_transformers_cleanup),
    )
    register(shell, current)
    if events:
        _installed.events = CellEvents(shell, current, under_load_ext)
        _installed.events.register()
    _installed.flight = Flight(shell, current)
    _installed.flight.start()
    _installed.panel = Panel(shell, current, loop=loop, tell_live=tell_live)
    _installed.panel.open()
    if tell_live is None:
        guard.when_told.append(_installed.panel.tell_guard)
    _installed.panel.tell_after_session(_installed.flight)
    watch_for_failures(current)
    return current


def detach(shell: InteractiveShell) -> None:
    """Undoes attach; IPython's own %xdel is back."""
    global _installed
    current = watcher()
    if current is None or _installed is None:
        return
    if _installed.events is not None:
        _installed.events.unregister()
    if _installed.panel is not None:
        _installed.panel.close()
    if _installed.flight is not None:
        _installed.flight.stop()
    for kind, before in _installed.magics.items():
        _restore(shell, kind, before)
    known = {id(it) for it in _installed.transformers}
    transformers, configurables = shell.input_transformers_cleanup, shell.configurables
    transformers[:] = [it for it in transformers if id(it) in known or not _is_ours(it)]
    configurables[:] = [it for it in configurables if it is not current.settings]
    _native.set_enabled(False)
    _native.set_guard("off")
    use_ledger(False)
    _native.set_rules_off(set())
    _native.judge(0, [], [])  # Nothing is watched, so nothing is known to leak.
    set_watcher(None)
    _installed = None


def _is_ours(it: object) -> bool:
    return module_of_callable(it).startswith("xleak.")


def _restore(shell: InteractiveShell, kind: str, before: dict[str, Any]) -> None:
    """Takes out our magics alone: others may have come since."""
    manager = shell.magics_manager
    table = manager.magics[kind]
    for name, magic in _native.items_of(table):
        if not _is_ours(magic):
            continue
        if name not in before:
            del table[name]
            continue
        # IPython 9.18 keeps a placeholder until a class of magics is loaded; it may be by now.
        spec = getattr(before[name], "spec", "")
        provider = manager.registry.get(spec.partition(":")[2]) if spec else None
        table[name] = before[name] if provider is None else provider.magics[kind][name]
