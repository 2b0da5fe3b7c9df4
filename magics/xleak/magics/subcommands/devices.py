"""`%xleak devices`: what lies where, and what does not fit together."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from IPython.core.error import UsageError

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.magics.live import live_verdict, live_watcher
from xleak.magics.memreport import snapshot
from xleak.render.table import printable, where
from xleak.render.units import counted, human_bytes
from xleak.shell.heap import user_values
from xleak.shell.module_devices import Placement, device_of, placements
from xleak.shell.other_processes import held_by_others, utilisation
from xleak.shell.readings import DeviceReading, device_readings
from xleak.shell.tensor_fields import tensor_class

HELP = {"devices": "where modules, optimizers and tensors lie, and what each device holds"}
# The rules whose findings are of devices.
_RULES = ("XL606", "XL608")
_NAMES_SHOWN = 8


def run(arguments: list[str]) -> None:
    """Prints devices, then modules and optimizers, then findings."""
    if arguments:
        raise UsageError(f"%xleak devices takes no arguments, got {' '.join(arguments)!r}")
    print("\n".join([*_devices(), *_placements(), *_names(), *_findings()]))


def _devices() -> list[str]:
    readings = device_readings()
    if not readings:
        return ["devices: no framework uses one in this process"]
    others, busy = held_by_others(), utilisation()
    return [_device(it, others.get(it.device), busy.get(it.device)) for it in readings]


def _device(it: DeviceReading, others: int | None, busy: int | None) -> str:
    parts = [
        f"allocated {human_bytes(it.allocated)}",
        f"reserved {human_bytes(it.reserved)}",
        f"peak {human_bytes(it.peak)}",
        f"other processes {human_bytes(others)}",
        f"of {human_bytes(it.total)}",
        f"busy {'?' if busy is None else f'{busy}%'}",
    ]
    return f"{printable(it.device)}: {', '.join(parts)}"


def _placements() -> list[str]:
    if "torch" not in sys.modules:
        return ["modules: torch is not imported"]
    heap = snapshot(live_watcher())
    # After the snapshot, to which it would be a holder of everything.
    with _native.LiveObjects() as live:
        told = placements(heap, live)
    if not told:
        return ["modules: no name leads to a module or an optimizer"]
    return [line for it in told for line in _lines(it)]


def _lines(it: Placement) -> list[str]:
    parts = [f"{part} {_counts(by)}" for part, by in it.by_part.items() if by]
    head = f"{printable(it.name)} ({printable(it.type_name)}): {'; '.join(parts) or 'no tensors'}"
    return [head, *(f"  ! {printable(hint)}" for hint in it.hints)]


def _counts(by_device: Mapping[str, int]) -> str:
    return ", ".join(f"{counted(by_device[it], 'tensor')} on {it}" for it in sorted(by_device))


def _names() -> list[str]:
    base, watching = tensor_class(), live_watcher()
    names = user_values(watching) if base is not None else {}
    found: dict[str, list[str]] = {}
    for name, value in names.items():
        if _native.is_kind_of(value, base):
            found.setdefault(device_of(value), []).append(name)
    told = [f"{_listed(found[device])} on {device}" for device in sorted(found)]
    # The last batch of a loop, its targets and results are among them.
    return [f"names of tensors: {'; '.join(told)}"] if told else []


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(map(printable, names[:_NAMES_SHOWN])) + more


def _findings() -> list[str]:
    found = [it for it in live_verdict().findings if it.code in _RULES]
    if not found:
        return ["XL606, XL608: nothing found"]
    return [
        f"{it.code} {it.severity}: {where(it, name_of_run)}: {printable(it.message)}"
        for it in found
    ]
