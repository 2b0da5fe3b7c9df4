"""Files that cells leave open under the user's names: run after run, or many at once."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.originals import gc, os
from xleak.shell.fields import fields_of
from xleak.shell.holders.containers import is_collection
from xleak.shell.holders.counts import handlers
from xleak.shell.holders.look import Look, is_the_users, may_be_released
from xleak.shell.holders.pictures import unread_pictures
from xleak.shell.holders.places import container_of, parent_of, value_at
from xleak.shell.holders.reruns import identity_of

# Of one cell. A process may have about a thousand.
_MANY = 50
_RUNS = 2
# After so many cells in which none is read or written, they are done with.
_IDLE_CELLS = 2
_OUTPUT = re.compile(r"_{1,3}\b|_\d+\b|Out\b")
_BUFFERS = (io.BufferedReader, io.BufferedWriter, io.BufferedRandom)

# A descriptor and the path behind it.
_File = tuple[int, str]


@dataclass(frozen=True)
class _Handle:
    """What the user closes, for the time of a look."""

    object: Any
    way: str
    cell: int
    path: str
    is_written: bool


class OpenFiles:
    """By the cell that opened them, until they are closed. Keeps numbers and paths alone."""

    def __init__(self) -> None:
        self._open = _native.OpenFiles()
        self._cells: dict[_File, int] = {}
        self._identities: dict[int, str] = {}
        self._positions: dict[int, dict[_File, int]] = {}
        """Of the cells that opened many: how far each file was read or written."""
        self._idle: dict[int, int] = {}
        """Of the same: for how many cells."""
        self._suspects: set[_File] = set()
        self.after_cell(0, "")

    def after_cell(self, cell: int, source: str) -> bool:
        """Whether files of several runs are open, or many that are done with; or some of those no
        longer."""
        changed = self._open.changed()
        if not changed and not self._positions:
            return False
        if changed:
            self._cells = {it: self._cells.get(it, cell) for it in self._open.files()}
            self._identities[cell] = identity_of(cell, source)
        self._note_positions(cell)
        before, self._suspects = self._suspects, self._of_reruns() | self._of_many()
        return self._suspects != before

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each cell that left them, all of its runs together."""
        if not self._suspects:
            return
        found = list(self._handles(look))
        explained = set()
        unread = unread_pictures(look.live)
        for runs in self._runs_of(it.cell for it in found):
            left = [it for it in found if it.cell in runs]
            explained.update(runs)
            earlier = [it for it in left if it.cell != max(runs)]
            kind = "files of runs"
            if any(it.is_written for it in left):
                kind = "written files of runs"
            yield _holder(kind, left, _closing(look, earlier))
        for cell, idle in self._idle.items():
            if idle < _IDLE_CELLS or cell in explained:
                continue
            of_cell = [it for it in found if it.cell == cell]
            yield from _unread(look, [it for it in of_cell if id(it.object) in unread])
            # What an object keeps, the object may need.
            left = [it for it in of_cell if "." not in it.way]
            if len(left) > _MANY:
                yield _holder("files", left, _closing(look, left))

    def _note_positions(self, now: int) -> None:
        cells = list(self._cells.values())
        many = {it for it in set(cells) if it > 0 and cells.count(it) > _MANY}
        before, self._positions = self._positions, {}
        idle, self._idle = self._idle, {}
        for cell in many:
            files = [it for it, opened in self._cells.items() if opened == cell]
            self._positions[cell] = {it: _position(it) for it in files}
            rests = cell != now and before.get(cell) == self._positions[cell]
            self._idle[cell] = idle.get(cell, 0) + 1 if rests else 0

    def _of_many(self) -> set[_File]:
        """Those that were read or written before they came to rest."""
        return {
            it
            for cell, files in self._positions.items()
            if self._idle[cell] >= _IDLE_CELLS
            for it, position in files.items()
            if position > 0
        }

    def _of_reruns(self) -> set[_File]:
        again = {cell for runs in self._runs_of(self._cells.values()) for cell in runs}
        return {it for it, cell in self._cells.items() if cell in again}

    def _runs_of(self, cells: Iterable[int]) -> list[set[int]]:
        """The runs of one cell that each left something, of every cell that was run again."""
        runs: dict[str, set[int]] = {}
        for cell in cells:
            if cell > 0:
                runs.setdefault(self._identities[cell], set()).add(cell)
        return [it for it in runs.values() if len(it) >= _RUNS]

    def _handles(self, look: Look) -> Iterator[_Handle]:
        by_descriptor = {number: (number, path) for number, path in self._suspects}
        logs = {id(fields_of(it).get("stream")) for it in handlers()}
        for number, handle, is_written in _python_files(look.live):
            file = by_descriptor.get(number)
            if file is None or id(handle) in logs:
                continue
            way = look.heap.way_to(handle)
            # Of an output there is another smell.
            told = any(way.startswith((f"{it}[", f"{it}.")) for it in look.explained)
            if is_the_users(way) and not told and not _OUTPUT.match(way):
                yield _Handle(handle, way, self._cells[file], file[1], is_written)


def _position(file: _File) -> int:
    """How many bytes lie before the next one; -1 where that cannot be told."""
    try:
        # To where it is already: that moves nothing.
        return os.lseek(file[0], 0, os.SEEK_CUR)
    except OSError:
        return -1


def _python_files(live: _native.LiveObjects) -> Iterator[tuple[int, Any, bool]]:
    """(descriptor, what is closed with it, whether it is written to) of Python's own open files."""
    around: dict[int, Any] = {}
    for kind in (*_BUFFERS, io.TextIOWrapper):
        for wrapper in live.instances(kind):
            # By tp_traverse: a wrapper whose file was detached has none.
            around.update({id(it): wrapper for it in gc.get_referents(wrapper)})
    for raw in live.instances(io.FileIO):
        try:
            number, is_written = io.FileIO.fileno(raw), io.FileIO.writable(raw)
        except ValueError:
            continue
        handle = around.get(id(raw), raw)
        yield number, around.get(id(handle), handle), is_written


def _unread(look: Look, found: list[_Handle]) -> Iterator[_native.Holder]:
    """One holder for each container of pictures, `pages` of `pages[0].fp`."""
    containers: dict[str, list[_Handle]] = {}
    for it in found:
        containers.setdefault(container_of(parent_of(it.way)), []).append(it)
    for way, left in containers.items():
        if not way or len(left) <= _MANY:
            continue
        held = value_at(look.watcher.shell.user_ns, way)
        whole = is_collection(held) and type(held).__len__(held) == len(left)
        release = f"{way}.clear()" if whole and may_be_released(way) else ""
        name, since = os.path.basename(left[0].path), min(it.cell for it in left)
        yield _native.Holder("unread pictures", way, 0, since, name, len(left), release)


def _holder(kind: str, left: list[_Handle], release: str) -> _native.Holder:
    since = min(it.cell for it in left)
    name = os.path.basename(left[0].path)
    name = name if name.isprintable() else repr(name)
    label = f"open files, from {name_of_run(since)} on"
    return _native.Holder(kind, label, 0, since, name, len(left), release)


def _closing(look: Look, chosen: list[_Handle]) -> str:
    """Code that closes just these, where they are still there; empty where an object of a library
    is around one."""
    names = [it.way for it in chosen if it.way.isidentifier()]
    containers: dict[str, list[_Handle]] = {}
    for it in chosen:
        if not it.way.isidentifier():
            containers.setdefault(container_of(it.way), []).append(it)
    if not all(way and may_be_released(way) for way in containers):
        return ""
    parts = [f"{name}.close()" for name in names]
    for way, members in containers.items():
        held = value_at(look.watcher.shell.user_ns, way)
        values = f"{way}.values()" if _native.is_kind_of(held, dict) else way
        ids = ", ".join(str(id(it.object)) for it in members)
        parts.append(f"[it.close() for it in {values} if id(it) in {{{ids}}}]")
    return "; ".join(parts) + ";" if parts else ""
