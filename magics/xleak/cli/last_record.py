"""The record that the kernel of a run left when it ended."""

from __future__ import annotations

import os

from jupyter_client.manager import AsyncKernelManager

from xleak import _native
from xleak.flight import death, files


async def told_of(manager: AsyncKernelManager) -> str:
    """How the kernel of this run died, as far as its exit status and its record say."""
    provisioner = manager.provisioner
    status = None if provisioner is None else await provisioner.poll()
    kept = _of(manager)
    if kept is None:
        return "the kernel died"
    try:
        if status is not None:
            _native.mark_flight_exit(kept.path, status)
        # This is where it is told of; no kernel that follows has this connection.
        _native.mark_flight_told(kept.path)
        record = _native.read_flight_record(kept.path)
    except _native.MonitorError:
        return "the kernel died"
    return f"the kernel died{death.within_cell(record, death.death_of(record))}"


def forget(manager: AsyncKernelManager) -> None:
    """Deletes the record of a kernel that the run itself has killed."""
    if kept := _of(manager):
        kept.path.unlink(missing_ok=True)


def _of(manager: AsyncKernelManager) -> files.Kept | None:
    return files.of_connection(os.path.abspath(manager.connection_file), files.dead())
