"""Where the records lie: `$XDG_STATE_HOME/xleak`, a file a process."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from xleak import _native
from xleak.originals import os, time

SUFFIX = ".record"
# As many sessions as somebody looks back on; each is 64 KiB.
KEPT = 20


@dataclass(frozen=True)
class Kept:
    """A record and its file."""

    path: Path
    record: _native.FlightRecord


def folder() -> Path:
    """Where they lie. State of the user's, as the XDG base directory specification has it: what lies
    in a runtime directory is gone after a restart of the machine."""
    chosen = os.environ.get("XDG_STATE_HOME", "")
    base = Path(chosen) if os.path.isabs(chosen) else Path.home() / ".local" / "state"
    return base / "xleak"


def new_file() -> Path:
    """A path for the record of this process, in a folder that is the user's alone. Raises OSError."""
    place = folder()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_own(place):
        raise PermissionError(f"{place} is not a folder of this user's")
    if place.lstat().st_mode & 0o077:
        place.chmod(0o700)
    return place / f"{time.time_ns():020}-{os.getpid()}{SUFFIX}"


def dead() -> list[Kept]:
    """The records of processes that have ended, newest first; what cannot be read is left out."""
    found = []
    for path in _paths():
        try:
            record = _native.read_flight_record(path)
        except _native.MonitorError:
            continue
        if not record.living:
            found.append(Kept(path, record))
    return found


def prune() -> list[Kept]:
    """As dead(), once all but the newest 20 are deleted."""
    records = dead()
    for old in records[KEPT:]:
        old.path.unlink(missing_ok=True)
    return records[:KEPT]


def of_connection(connection_file: str, records: list[Kept]) -> Kept | None:
    """The newest of a kernel with this connection file, which stays the same when Jupyter restarts it."""
    same = (
        it for it in records if connection_file and it.record.connection_file == connection_file
    )
    return next(same, None)


def _paths() -> list[Path]:
    """Newest first: their names begin with the time. None of a folder that is not this user's: whoever has it
    could put there what kernels are said to have died of."""
    place = folder()
    try:
        return sorted(place.glob(f"*{SUFFIX}"), reverse=True) if _is_own(place) else []
    except OSError:
        return []


def is_foreign() -> bool:
    """Whether their folder is another user's, or a link."""
    try:
        return not _is_own(folder())
    except OSError:
        return False


def _is_own(place: Path) -> bool:
    found = place.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
