"""Keeps the record of this kernel, and tells once how the one before it ended."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from IPython.display import display

import xleak
from xleak import _native
from xleak.flight import death, files
from xleak.originals import os
from xleak.render.escape import escape

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.shell.watcher import Watcher

_SOURCE_BYTES = 200


class Flight:
    """The record of one session, while its cells are watched."""

    def __init__(self, shell: InteractiveShell, watcher: Watcher) -> None:
        self.before: files.Kept | None = None
        """The kernel before this one, where it ended within a cell and nobody had asked it to."""
        self._shell = shell
        self._watcher = watcher
        self._connection_file = _connection_file(shell)

    def start(self) -> None:
        """Makes the file, and looks for that of the kernel before. Does nothing where cells are not
        watched; a folder that cannot be written costs the record alone."""
        self._watcher.before_run.append(self._announce)
        self._watcher.after_cells.append(self._tell_once)
        self._watcher.showing.append(self._has_to_tell)
        self._watcher.settings.observe(self._apply_policy, "policy")
        if _native.enabled():
            self._open()

    def stop(self) -> None:
        """Deletes the file."""
        self._watcher.settings.unobserve(self._apply_policy, "policy")
        _native.drop_flight_record()

    def mark_told(self) -> None:
        """The session before is told of in this session, and in none that follows."""
        if self.before is not None:
            try:
                _native.mark_flight_told(self.before.path)
            except _native.MonitorError:
                # It was deleted meanwhile.
                return

    def _open(self) -> None:
        try:
            self.before = _untold(files.of_connection(self._connection_file, files.prune()))
            versions = f"xleak {xleak.__version__}, Python {platform.python_version()}"
            folder = _encodable(os.getcwd())
            _native.keep_flight_record(files.new_file(), self._connection_file, folder, versions)
        except (OSError, RuntimeError):
            # No home, no room, no right to write: the kernel works on without.
            return

    def _apply_policy(self, change: Any) -> None:
        if change["new"] == "off":
            _native.drop_flight_record()
        elif change["old"] == "off":
            self._open()

    def _announce(self, source: str) -> None:
        cut = source[:_SOURCE_BYTES].encode("utf-8", "replace")[:_SOURCE_BYTES]
        start = cut.decode("utf-8", "ignore").encode()  # Not within a character.
        _native.announce_cell(start, self._watcher.next_count)

    def _has_to_tell(self, source: str) -> bool:
        return self.before is not None

    def _tell_once(self, index: int, source: str) -> None:
        self._watcher.after_cells.remove(self._tell_once)
        self._watcher.showing.remove(self._has_to_tell)
        if self.before is None:
            return
        self.mark_told()
        record = self.before.record
        told = death.sentence(record, death.death_of(record))
        text = f"xleak: the kernel before this one died. {told} `xleak postmortem` shows it."
        data = {"text/plain": text, "text/html": f"<code>{escape(text)}</code>"}
        display(data, raw=True)


def _untold(kept: files.Kept | None) -> files.Kept | None:
    if kept is None or kept.record.told or kept.record.asked_to_end:
        return None
    cell = kept.record.cell
    in_cell = cell is not None and cell.running
    # A kernel that rests is killed by whoever restarts it, too.
    return kept if in_cell or death.death_of(kept.record).cause == "out_of_memory" else None


def _connection_file(shell: InteractiveShell) -> str:
    # Both kernels have it in their configuration; a terminal has none.
    path = shell.config.get("IPKernelApp", {}).get("connection_file", "")
    return _encodable(os.path.abspath(path)) if isinstance(path, str) and path else ""


def _encodable(path: str) -> str:
    return path.encode("utf-8", "replace").decode()
