"""Child processes that are alive, and the Python objects that stand for them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.descendants import process_state
from xleak.shell.fields import fields_of, instances, loaded_class
from xleak.shell.holders.origin import is_of_the_user, module_of


def popens(live: _native.LiveObjects) -> Iterator[tuple[int, dict[str, Any]]]:
    """(process id, attributes) of each `subprocess.Popen` whose process is alive."""
    for popen in live.instances(subprocess.Popen):
        fields = fields_of(popen)
        pid = fields.get("pid")
        if type(popen) is subprocess.Popen and type(pid) is int and is_alive(pid):
            yield pid, fields


def processes() -> Iterator[tuple[int, object, dict[str, Any]]]:
    """(process id, object, attributes) of each `multiprocessing.Process` that is alive."""
    base = loaded_class("multiprocessing.process", "BaseProcess")
    if base is None:
        return
    known = _native.fields_of_module("multiprocessing.process").get("_children")
    for process in _native.values_of(known):
        fields = fields_of(process)
        pid = _pid_of(fields)
        if pid is not None and is_alive(pid):
            yield pid, process, fields


# (module, class, attribute) of what has processes as its workers, in a list or by their ids.
_POOLS = (
    ("concurrent.futures.process", "ProcessPoolExecutor", "_processes"),
    ("concurrent.futures.process", "_ExecutorManagerThread", "processes"),
    ("multiprocessing.pool", "Pool", "_pool"),
    ("multiprocessing.managers", "BaseManager", "_process"),
    ("torch.utils.data.dataloader", "_MultiProcessingDataLoaderIter", "_workers"),
)


def of_libraries(live: _native.LiveObjects) -> set[int]:
    """The identities of processes that are the workers of a pool, of whichever library."""
    workers: list[object] = []
    for module, name, attribute in _POOLS:
        for _, fields in instances(live, module, name):
            held = fields.get(attribute)
            is_many = _native.is_exactly(held, (dict, list))
            workers += _native.values_of(held) if is_many else [held]
    foreign = [it for _, it, _ in processes() if not _is_plain(it)]
    return {id(worker) for worker in [*workers, *foreign]}


def _is_plain(process: object) -> bool:
    """Whether it is of multiprocessing itself or of a class of the user's."""
    module = module_of(type(process))
    return module.startswith("multiprocessing.") or is_of_the_user(module)


def _pid_of(fields: dict[str, Any]) -> int | None:
    """The process id among the attributes of a `multiprocessing.Process`."""
    started = fields.get("_popen")
    of_library = module_of(type(started)).startswith("multiprocessing.")
    pid = fields_of(started).get("pid") if of_library else None
    return pid if type(pid) is int else None


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody waited for does not."""
    return process_state(pid) not in (None, "Z", "X")
