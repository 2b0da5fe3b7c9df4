"""`%%leakcheck`: a cell with that mark runs as any other; its mark is taken away, its report comes
after it."""

from __future__ import annotations

import sys
from itertools import takewhile

from xleak import _native
from xleak.cell_names import cell_name
from xleak.magics.asked import no_room
from xleak.magics.live import live_verdict, live_watcher
from xleak.render import table, text
from xleak.render.units import human_bytes, human_seconds, signed_bytes
from xleak.shell import tensors
from xleak.shell.grown import Grown, Holdings, grown_since, holdings
from xleak.shell.heap import take_snapshot
from xleak.shell.torch_modes import mode_line
from xleak.shell.watcher import watcher
from xleak.verdict import Cell, Verdict

MARK = "%%leakcheck"
_HOLDERS_SHOWN = 5
_WAYS_SHOWN = 2


def is_marked(source: str) -> bool:
    """Whether a bare `%%leakcheck` is among the cell magics that a cell starts with."""
    if MARK not in source:
        return False
    lines = source.lstrip().splitlines()
    magics = takewhile(lambda line: line.startswith("%%"), lines)
    return MARK in (magic.rstrip() for magic in magics)


@_native.out_of_sight
def without_mark(lines: list[str]) -> list[str]:
    """An input transformer of IPython: the cell without its mark, with line numbers kept."""
    if not lines or lines[0].rstrip() != MARK or watcher() is None:
        return lines
    body = lines[1:]
    # Another cell magic below must come first to be seen as one.
    return body if body and body[0].startswith("%%") else ["\n", *body]


class MarkedCells:
    """Looks at the heap on both sides of a marked cell, and reports below it."""

    def __init__(self) -> None:
        self._before: Holdings | None = None

    def before_run(self, source: str) -> None:
        """Who holds how much before a marked cell."""
        self._before = None
        if is_marked(source):
            # Findings of the cells before it are not its own.
            live_watcher().idle(lambda: False)
            heap = take_snapshot(live_watcher())
            self._before = None if heap is None else holdings(live_watcher(), heap)

    def after_cell(self, index: int, source: str) -> None:
        """Prints what a marked cell did, once it was judged."""
        if is_marked(source):
            before, self._before = self._before, None
            try:
                print(cell_report(live_verdict(), index, _grown(before)))
            except RecursionError:
                print(f"xleak: {no_room('the report on this cell')}", file=sys.stderr)


def _grown(before: Holdings | None) -> list[Grown] | None:
    heap = None if before is None else take_snapshot(live_watcher())
    if before is None or heap is None:
        return None
    return grown_since(live_watcher(), heap, before, _HOLDERS_SHOWN, _WAYS_SHOWN)


def cell_report(verdict: Verdict, index: int, grown: list[Grown] | None) -> str:
    """The numbers of one cell, who holds more than before it (None: unknown), and the findings
    that it caused or made."""
    of_cell = [found for found in verdict.findings if index in (found.cell, found.cause_cell)]
    lines = [line for cell in verdict.cells if cell.index == index for line in _numbers(cell)]
    modes = [line] if (line := mode_line()) else []
    findings = text.findings(of_cell, verdict.name_of)
    return "\n".join([*lines, *_holders(grown), *modes, findings])


def _numbers(cell: Cell) -> list[str]:
    host = cell.host
    lines = [
        f"{cell_name(cell.index, cell.execution_count)}: kept {signed_bytes(host.kept_bytes)}; "
        f"process {signed_bytes(host.grown_bytes)}, peak {human_bytes(host.resident_peak_bytes)}, "
        f"{human_seconds(cell.seconds)}",
        f"  C heap: kept {signed_bytes(host.heap_kept_bytes)}; "
        "what came and went in between is not counted there",
    ]
    if host.tensor_kept_bytes is not None:
        lines.append(
            f"  tensors: allocated {human_bytes(host.tensor_allocated_bytes)}, "
            f"freed {human_bytes(host.tensor_freed_bytes)}, "
            f"kept {signed_bytes(host.tensor_kept_bytes)}, "
            f"peak {human_bytes(host.tensor_peak_bytes)}"
        )
    elif unknown := tensors.why_unknown():
        lines.append(f"  tensors: {unknown}")
    return lines + [
        f"  {table.printable(use.device)}: kept {signed_bytes(use.allocated_kept_bytes)}, "
        f"peak {human_bytes(use.allocated_peak_bytes)}"
        for use in cell.devices
    ]


def _holders(grown: list[Grown] | None) -> list[str]:
    if grown is None:
        return ["who holds it is unknown: the heap could not be read on both sides of the cell"]
    return ["held by, more than before the cell:", *map(_holder, grown)] if grown else []


def _holder(more: Grown) -> str:
    label, kind = table.printable(more.label), table.printable(more.type_name)
    line = f"  {human_bytes(more.bytes):>9}  {label}{f' ({kind})' if kind else ''}"
    others = ", ".join(table.printable(way) for way in more.others)
    return f"{line}, also held by {others}" if others else line
