"""The rows that every form of the report shows, as plain strings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xleak.cell_names import Naming, cell_name
from xleak.postmortem import LEAST_BYTES
from xleak.render.units import counted, human_bytes, human_seconds, signed_bytes
from xleak.verdict import Cell, Finding, Verdict

HEADER = ("cell", "status", "time", "kept", "process", "peak", "device", "source")
NUMERIC = frozenset({"time", "kept", "process", "peak", "device"})
_SOURCE_WIDTH = 44
# The name that an expression such as `model.cache['a']` starts with.
_ROOT = re.compile(r"[^\W\d]\w*(?=[.\[]|$)")


def rows(cells: Iterable[Cell], sources: Mapping[int, str]) -> list[tuple[str, ...]]:
    """One row a cell, in the order of HEADER. `sources`: the code of a cell by its index."""
    return [_row(cell, sources.get(cell.index, "")) for cell in cells]


def users_cells(verdict: Verdict) -> list[Cell]:
    """Those that a table shows."""
    return [cell for cell in verdict.cells if not cell.own]


def own_cells(verdict: Verdict) -> list[Cell]:
    """Those of xleak's magics alone, which stand apart."""
    return [cell for cell in verdict.cells if cell.own]


def own_line(verdict: Verdict) -> str:
    """Which cells are xleak's own; empty where none is."""
    own = own_cells(verdict)
    numbers = ", ".join(f"[{_number(cell)}]" for cell in own)
    return f"and {counted(len(own), 'cell')} of xleak's own, in no sum: {numbers}" if own else ""


def _row(cell: Cell, source: str) -> tuple[str, ...]:
    start = shorten(first_line(source), _SOURCE_WIDTH)
    if cell.status == "not_run":
        return (_number(cell), "not run", "", "", "", "", "", start)
    return (
        _number(cell),
        cell.status,
        human_seconds(cell.seconds),
        signed_bytes(cell.host.kept_bytes),
        signed_bytes(cell.host.grown_bytes),
        human_bytes(cell.host.resident_peak_bytes),
        signed_bytes(device_kept_bytes(cell)) if cell.devices else "",
        start,
    )


def _number(cell: Cell) -> str:
    """As the notebook shows it, where a cell that did not run has none."""
    ran = cell.execution_count or cell.seconds is not None
    return cell_name(cell.index, cell.execution_count).removeprefix("cell ") if ran else ""


def device_kept_bytes(cell: Cell) -> int | None:
    """What all devices together kept; None where one of them is unknown."""
    sizes = [use.allocated_kept_bytes for use in cell.devices]
    known = [size for size in sizes if size is not None]
    return sum(known) if known and len(known) == len(sizes) else None


def totals(verdict: Verdict) -> str:
    """The session in one line."""
    ran = [cell for cell in users_cells(verdict) if cell.status != "not_run"]
    seconds = sum(cell.seconds or 0.0 for cell in ran)
    summary = verdict.summary
    return (
        f"{counted(len(ran), 'cell')} in {human_seconds(seconds)}, "
        f"process {signed_bytes(summary.kept_bytes)}, peak {human_bytes(summary.peak_bytes)}, "
        f"releasable {human_bytes(summary.releasable_bytes)}"
    )


def kept_openly(verdict: Verdict) -> str:
    """By how much the process grew, and the names that hold most of it; empty where that is little."""
    kept = verdict.summary.kept_bytes
    if kept is None or kept < LEAST_BYTES:
        return ""
    names = ", ".join(
        f"{printable(it.name)} {human_bytes(it.retained_bytes)}" for it in verdict.names
    )
    who = f"names that hold most: {names}" if names else "no name holds much of it"
    return f"The process grew by {human_bytes(kept)}, imports included; {who}"


def devices(verdict: Verdict) -> str:
    """One line a device with what other processes hold of it; empty without one."""
    return "\n".join(
        f"{printable(it.device)}: other processes hold "
        f"{'an unknown size' if it.other_processes_bytes is None else human_bytes(it.other_processes_bytes)}"
        for it in verdict.devices
    )


def verdict_line(findings: Sequence[Finding]) -> str:
    """How many findings of each severity, or that there is none."""
    if not findings:
        return "No leak found"
    severities = [finding.severity for finding in findings]
    return ", ".join(
        counted(severities.count(severity), severity)
        for severity in ("error", "warning", "note")
        if severity in severities
    )


@dataclass(frozen=True)
class Group:
    """Findings of one rule below one holder, as `Out` is of `Out[2]` and `Out[5]`."""

    code: str
    slug: str
    holder: str
    findings: list[Finding]

    @property
    def bytes(self) -> int | None:
        """What they keep together, None where nothing is known."""
        return total_bytes(self.findings)


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """By rule and holder: rules that keep most first, in a rule the holders, below one the findings."""
    groups: dict[tuple[str, str], Group] = {}
    for found in by_size(findings):
        group = Group(found.code, found.slug, holder_of(found), [])
        groups.setdefault((group.code, group.holder), group).findings.append(found)
    of_rule: dict[str, int] = {}
    for group in groups.values():
        of_rule[group.code] = of_rule.get(group.code, 0) + (group.bytes or 0)
    return sorted(groups.values(), key=lambda g: (-of_rule[g.code], g.code, -(g.bytes or 0)))


def by_size(findings: Iterable[Finding]) -> list[Finding]:
    """Most bytes first, what is unknown last."""
    return sorted(findings, key=lambda found: -1 if found.bytes is None else found.bytes)[::-1]


def total_bytes(findings: Iterable[Finding]) -> int | None:
    """The sum of what is known, None where nothing is."""
    known = [found.bytes for found in findings if found.bytes is not None]
    return sum(known) if known else None


def holder_of(finding: Finding) -> str:
    """The name at the root of what holds it, or the holder as it is where it is no expression."""
    return root_of(next(iter(finding.holders), finding.name or ""))


def root_of(holder: str) -> str:
    """The name at the root of an expression; any other text as it is."""
    root = _ROOT.match(holder)
    return root.group() if root else holder


def where(finding: Finding, named: Naming) -> str:
    """`cell 2 line 4, kept after cell 3`."""
    if finding.cause_cell is None:
        return f"after {named(finding.cell)}"
    line = f" line {finding.line}" if finding.line is not None else ""
    later = f", kept after {named(finding.cell)}" if finding.cell != finding.cause_cell else ""
    return f"{named(finding.cause_cell)}{line}{later}"


def stopped_in(verdict: Verdict) -> str:
    """` in cell 2`, or nothing where no cell was running."""
    failure = verdict.failure
    return f" in {verdict.name_of(failure.cell)}" if failure and failure.cell is not None else ""


def first_line(source: str) -> str:
    """The first line of a cell that is neither blank nor a comment; else its first line."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    code = [line for line in lines if not line.startswith("#")]
    return printable(next(iter(code or lines), ""))


def shorten(text: str, width: int) -> str:
    """The text, cut to `width` characters with an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def printable(text: str) -> str:
    """The text with control characters spelled out, so that it cannot drive a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
