"""The verdict on a session, `xleak.verdict/1`: one shape for everything that reports.

Its JSON Schema is share/comm/verdict.v1.schema.json. Sizes are bytes, times are seconds, and a
number that could not be had is None, never zero.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from xleak.cell_names import cell_name
from xleak.explain import kind
from xleak.postmortem import LEAST_BYTES, HeldByName, KeptByCell, Postmortem

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from xleak import _native
    from xleak.shell.watcher import Watcher

    T = TypeVar("T", bound=DataclassInstance)

SCHEMA = "xleak.verdict/1"

Severity = Literal["note", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
CellStatus = Literal["ok", "error", "aborted", "not_run"]
Owner = Literal["names", "shown", "unnamed", "native", "imports"]
# More would hide the first ones.
_MOST_NAMES = 5
# Less is hardly seen in a bar.
_LEAST_BYTES = 1 << 20


@dataclass(frozen=True)
class Source:
    """What was watched; `path` is None for a live session."""

    path: str | None
    language: str
    versions: dict[str, str]


@dataclass(frozen=True)
class Host:
    """What a cell did to the process. `tensor_*` are unknown without torch's own module, `allocated_*` without
    the ledger of large blocks."""

    resident_before_bytes: int | None = None
    resident_after_bytes: int | None = None
    resident_peak_bytes: int | None = None
    resident_peak_is_exact: bool = False
    heap_kept_bytes: int | None = None
    small_heap_kept_bytes: int | None = None
    heap_free_bytes: int | None = None
    tensor_kept_bytes: int | None = None
    tensor_peak_bytes: int | None = None
    tensor_allocated_bytes: int | None = None
    allocated_alive_bytes: int | None = None
    allocated_peak_bytes: int | None = None
    python_blocks_kept: int | None = None
    python_bytes_kept: int | None = None
    minor_faults: int | None = None
    major_faults: int | None = None

    @property
    def kept_bytes(self) -> int | None:
        """By the allocators' own counters: large blocks that the cell made and that were alive at its end, and the
        change of the small C heap and of Python's pools. None without the ledger."""
        large, python = self.allocated_alive_bytes, self.python_bytes_kept
        if large is None or (python is None and self.python_blocks_kept is not None):
            return None
        # What was not counted did not move, or is in the next number.
        return large + (self.small_heap_kept_bytes or 0) + (python or 0)

    @property
    def bar_bytes(self) -> int | None:
        """What it kept; what the process gave back where that is next to nothing, and the growth of the resident
        memory where no allocator says what it kept."""
        kept, grown = self.kept_bytes, self.grown_bytes
        gave_back = grown is not None and grown <= -_LEAST_BYTES
        return grown if kept is None or (kept < _LEAST_BYTES and gave_back) else kept

    @property
    def grown_bytes(self) -> int | None:
        """Growth of the resident memory over the cell."""
        if self.resident_before_bytes is None or self.resident_after_bytes is None:
            return None
        return self.resident_after_bytes - self.resident_before_bytes

    @property
    def tensor_freed_bytes(self) -> int | None:
        """What was freed of tensors during the cell, older ones included."""
        if self.tensor_allocated_bytes is None or self.tensor_kept_bytes is None:
            return None
        return self.tensor_allocated_bytes - self.tensor_kept_bytes


@dataclass(frozen=True)
class Device:
    """What a framework reports of one device."""

    device: str
    allocated_kept_bytes: int | None
    allocated_peak_bytes: int | None
    reserved_bytes: int | None


@dataclass(frozen=True)
class SharedDevice:
    """A device as it was when the verdict was asked for."""

    device: str
    other_processes_bytes: int | None


@dataclass(frozen=True)
class Alive:
    """What of a cell's blocks of 64 KiB and more somebody has, in bytes in memory. `name`: of the user's, or the
    output."""

    owner: Owner
    name: str | None
    bytes: int


@dataclass(frozen=True)
class Cell:
    """One code cell; `index` counts them from 1."""

    index: int
    cell_id: str | None = None
    execution_count: int | None = None
    status: CellStatus = "not_run"
    seconds: float | None = None
    cpu_seconds: float | None = None
    host: Host = field(default_factory=Host)
    devices: list[Device] = field(default_factory=list)
    postmortem: Postmortem | None = None
    """Where the cell failed because memory ran out."""
    own: bool = False
    """It has nothing but xleak's magics: it counts in no total."""
    alive: list[Alive] | None = None
    """What it made that is in memory when the verdict is asked for, where that was asked for."""

    @property
    def alive_now_bytes(self) -> int | None:
        """The sum of these."""
        return None if self.alive is None else sum(it.bytes for it in self.alive)


@dataclass(frozen=True)
class Fix:
    """A repair that gives the memory back when `code` runs as a cell."""

    title: str
    code: str
    kind: Literal["run"] = "run"


@dataclass(frozen=True)
class Finding:
    """One leak: after which cell, how much, held by what, and what to type next."""

    code: str
    slug: str
    severity: Severity
    basis: Literal["source", "measured"]
    cell: int
    cause_cell: int | None
    line: int | None
    bytes: int | None
    name: str | None
    holders: list[str]
    path: list[str]
    message: str
    fixes: list[Fix]
    category: str | None = None
    scope: str | None = None
    effect: str | None = None


@dataclass(frozen=True)
class Failure:
    """Why a run ended early; `cell` is the one that was running, None where none was."""

    kind: Literal["error", "timeout", "died", "interrupted", "not_started"]
    cell: int | None
    message: str


@dataclass(frozen=True)
class Account:
    """Where the resident memory of the process is; what each part is stands in the schema. They add up to
    `resident_bytes`; what programs that it started have stands beside it."""

    resident_bytes: int
    names_bytes: int
    shown_bytes: int
    unnamed_bytes: int
    native_bytes: int
    imports_bytes: int
    small_bytes: int
    free_bytes: int
    shared_bytes: int
    unknown_bytes: int
    child_processes_bytes: int = 0


@dataclass(frozen=True)
class Summary:
    """Totals; how each is formed stands in the schema."""

    findings: dict[str, int]
    kept_bytes: int | None
    peak_bytes: int | None
    releasable_bytes: int | None


@dataclass(frozen=True)
class Verdict:
    """What a session kept, cell by cell, and what to do about it."""

    source: Source
    cells: list[Cell]
    findings: list[Finding]
    summary: Summary
    failure: Failure | None = None
    devices: list[SharedDevice] = field(default_factory=list)
    names: list[HeldByName] = field(default_factory=list)
    """The names that hold most, where they were asked for."""
    account: Account | None = None
    """Where the memory of the process is, where it was asked for."""
    schema: str = SCHEMA

    def name_of(self, index: int) -> str:
        """What the cell of an index is called."""
        counts = {cell.index: cell.execution_count for cell in self.cells}
        return cell_name(index, counts.get(index))


def assemble(
    source: Source,
    cells: Sequence[Cell],
    findings: Sequence[Finding],
    failure: Failure | None = None,
    devices: Sequence[SharedDevice] = (),
    names: Sequence[HeldByName] = (),
    account: Account | None = None,
) -> Verdict:
    """The verdict over these cells and findings, with its totals."""
    summary = summarise(cells, findings)
    return Verdict(
        source, list(cells), list(findings), summary, failure, list(devices), list(names), account
    )


def summarise(cells: Sequence[Cell], findings: Sequence[Finding]) -> Summary:
    """The totals of the schema's `summary`."""
    ran = [cell for cell in cells if cell.status != "not_run"]
    first = ran[0].host.resident_before_bytes if ran else None
    last = ran[-1].host.resident_after_bytes if ran else None
    # What a magic gave back was the user's; what it took was not.
    own = sum(max(0, cell.host.grown_bytes or 0) for cell in ran if cell.own)
    peaks = [
        cell.host.resident_peak_bytes
        for cell in ran
        if not cell.own and cell.host.resident_peak_bytes is not None
    ]
    measured = [finding.bytes for finding in findings if finding.basis == "measured"]
    known = [size for size in measured if size is not None]
    return Summary(
        findings={
            severity: sum(finding.severity == severity for finding in findings)
            for severity in SEVERITIES
        },
        kept_bytes=None if first is None or last is None else last - first - own,
        peak_bytes=max(peaks, default=None),
        releasable_bytes=sum(known) if known or not measured else None,
    )


def build(
    records: Iterable[_native.CellRecord],
    findings: Iterable[_native.Finding],
    path: str | None = None,
    postmortems: Mapping[int, Postmortem] | None = None,
) -> Verdict:
    """The verdict over native records and findings. A cell that still runs is left out.

    postmortems: by the index of a cell."""
    told = postmortems or {}
    cells = [
        _cell(record, told.get(record.index)) for record in records if record.status != "running"
    ]
    return assemble(
        Source(path, "python", versions()), cells, [_finding(finding) for finding in findings]
    )


def cell_shape(record: _native.CellRecord, postmortem: Postmortem | None = None) -> dict[str, Any]:
    """One `cell` of the schema, of a cell that has ended."""
    return _cell_to(_cell(record, postmortem))


def finding_shape(found: _native.Finding) -> dict[str, Any]:
    """One `finding` of the schema."""
    return asdict(_finding(found))


def _cell_to(cell: Cell) -> dict[str, Any]:
    shape = asdict(cell)
    shape["host"]["kept_bytes"] = cell.host.kept_bytes
    if cell.postmortem is None:
        del shape["postmortem"]
    if not cell.own:
        del shape["own"]
    if cell.alive is None:
        del shape["alive"]
    else:
        shape["alive_now_bytes"] = cell.alive_now_bytes
    return shape


def _cell(record: _native.CellRecord, postmortem: Postmortem | None) -> Cell:
    host = Host(
        resident_before_bytes=record.resident_before_bytes,
        resident_after_bytes=record.resident_after_bytes,
        resident_peak_bytes=record.resident_peak_bytes,
        resident_peak_is_exact=record.peak_is_exact,
        heap_kept_bytes=record.heap_kept_bytes,
        small_heap_kept_bytes=record.small_heap_kept_bytes,
        heap_free_bytes=record.heap_free_bytes,
        tensor_kept_bytes=record.tensor_kept_bytes,
        tensor_peak_bytes=record.tensor_peak_bytes,
        tensor_allocated_bytes=record.tensor_allocated_bytes,
        allocated_alive_bytes=record.allocated_alive_bytes,
        allocated_peak_bytes=record.allocated_peak_bytes,
        python_blocks_kept=record.python_blocks_kept,
        python_bytes_kept=record.python_bytes_kept,
        minor_faults=record.minor_faults,
        major_faults=record.major_faults,
    )
    devices = [
        Device(use.device, use.allocated_kept_bytes, use.allocated_peak_bytes, use.reserved_bytes)
        for use in record.devices
    ]
    return Cell(
        index=record.index,
        cell_id=record.cell_id,
        execution_count=record.execution_count,
        status="ok" if record.status == "ok" else "error",
        seconds=record.seconds,
        cpu_seconds=record.cpu_seconds,
        host=host,
        devices=devices,
        postmortem=postmortem,
        own=record.is_own,
    )


def _finding(found: _native.Finding) -> Finding:
    about = kind(found.code)
    return Finding(
        code=found.code,
        slug=found.slug,
        severity=found.severity,
        basis=found.basis,
        # 0: found before the first watched cell had ended, so it is there after that one too.
        cell=max(1, found.cell),
        cause_cell=found.cause_cell,
        line=found.line,
        bytes=found.bytes,
        name=found.name,
        holders=list(found.holders),
        path=list(found.path),
        message=found.message,
        fixes=[Fix(fix.title, fix.code) for fix in found.fixes],
        category=about.category,
        scope=about.scope,
        effect=about.effect,
    )


def versions() -> dict[str, str]:
    """Versions of xleak, Python, IPython, and of torch where the process has loaded it."""
    found = {"python": platform.python_version()}
    for name in ("xleak", "ipython", "torch"):
        if name == "torch" and "torch" not in sys.modules:
            continue
        version = _installed_version(name)
        if version is not None:
            found[name] = version
    return found


@cache
def _installed_version(distribution: str) -> str | None:
    if distribution == "xleak":
        from xleak import __version__

        return __version__
    # It imports the parsers of e-mail and zip files.
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def to_json(verdict: Verdict) -> dict[str, Any]:
    """The verdict as `xleak.verdict/1`: plain dicts, lists, strings, numbers and None."""
    shape = asdict(verdict)
    shape["cells"] = [_cell_to(cell) for cell in verdict.cells]
    if verdict.account is None:
        del shape["account"]
    return {"schema": shape.pop("schema"), **shape}


def from_json(shape: Mapping[str, Any]) -> Verdict:
    """The verdict of such a shape. Raises ValueError where it is of another version."""
    if shape.get("schema") != SCHEMA:
        raise ValueError(f"expected a verdict of schema {SCHEMA}, got {shape.get('schema')!r}")
    failure = shape.get("failure")
    return Verdict(
        source=_read(Source, shape["source"]),
        cells=[_cell_from(cell) for cell in shape["cells"]],
        findings=[_finding_from(finding) for finding in shape["findings"]],
        summary=_read(Summary, shape["summary"]),
        failure=_read(Failure, failure) if failure else None,
        devices=[_read(SharedDevice, device) for device in shape.get("devices", [])],
        names=[_read(HeldByName, it) for it in shape.get("names", [])],
        account=_read(Account, shape["account"]) if shape.get("account") else None,
    )


def _cell_from(shape: Mapping[str, Any]) -> Cell:
    devices = [_read(Device, device) for device in shape["devices"]]
    told, alive = shape.get("postmortem"), shape.get("alive")
    return replace(
        _read(Cell, shape),
        host=_read(Host, shape["host"]),
        devices=devices,
        postmortem=_postmortem_from(told) if told else None,
        alive=None if alive is None else [_read(Alive, it) for it in alive],
    )


def _postmortem_from(shape: Mapping[str, Any]) -> Postmortem:
    return replace(
        _read(Postmortem, shape),
        cells=[_read(KeptByCell, it) for it in shape["cells"]],
        names=[_read(HeldByName, it) for it in shape["names"]],
        locals=[_read(HeldByName, it) for it in shape["locals"]],
    )


def _finding_from(shape: Mapping[str, Any]) -> Finding:
    # Repairs of another kind are the notebook editor's; nothing here applies them.
    runs = [_read(Fix, fix) for fix in shape["fixes"] if fix["kind"] == "run"]
    return replace(_read(Finding, shape), fixes=runs)


def _read(kind: type[T], shape: Mapping[str, Any]) -> T:
    # Fields that a later version added are left out.
    names = [item.name for item in fields(kind) if item.name in shape]
    return kind(**{name: shape[name] for name in names})


def session_verdict(
    names: bool = False,
    with_dismissed: bool = True,
    after_cell: int = 0,
    settled: bool = False,
) -> Verdict:
    """The verdict on this process's session; with `names` those that hold most, and where all memory is, which takes
    a look at the heap. after_cell: the index of a cell; it and those before it are left out. settled: judged as if one
    more quiet cell had ended. Raises RuntimeError where xleak is not loaded."""
    from xleak import _native
    from xleak.shell.other_processes import held_by_others
    from xleak.shell.watcher import watcher

    watching = watcher()
    if watching is None:
        raise RuntimeError("xleak does not watch this session. Load it with %load_ext xleak")
    if settled:
        watching.settle()
    else:
        # The verdict waits for the look that is due.
        watching.idle(lambda: False)
    findings = watching.findings() if with_dismissed else watching.undismissed()
    latest = _native.latest_record()
    last = latest.index if latest is not None else 0
    records = [_native.record(index) for index in range(after_cell + 1, last + 1)]
    known = [record for record in records if record is not None]
    verdict = build(known, findings, postmortems=watching.postmortems)
    verdict = replace(verdict, devices=[SharedDevice(*row) for row in held_by_others().items()])
    return _with_names(verdict, watching) if names else verdict


def _with_names(verdict: Verdict, watching: Watcher) -> Verdict:
    from xleak.shell.heap import take_snapshot, user_names
    from xleak.shell.process_account import account_of, resident_pages
    from xleak.shell.watcher import printable

    pages, heap, names = resident_pages(), take_snapshot(watching), user_names(watching)
    if heap is None:
        return verdict
    shares = heap.shares(names, [], LEAST_BYTES)
    held = sorted(((sum(kept.values()), names[at]) for at, kept, _ in shares), reverse=True)
    verdict = replace(
        verdict, names=[HeldByName(printable(name), size) for size, name in held[:_MOST_NAMES]]
    )
    found = account_of(watching, heap, pages)
    return verdict if found is None else with_account(verdict, *found)


def with_account(
    verdict: Verdict, account: Account, alive: Mapping[int, Sequence[Alive]]
) -> Verdict:
    """With the account, and in each cell what it made that is alive."""
    cells = [replace(cell, alive=list(alive.get(cell.index, []))) for cell in verdict.cells]
    return replace(verdict, cells=cells, account=account)


def verdict_json(at_end: bool = False, after_cell: int = 0) -> str:
    """The session's verdict as one line of ASCII JSON, for a client that sends an expression. at_end: no cell comes
    any more, so it is settled, and has the names that hold most."""
    return json.dumps(to_json(session_verdict(at_end, after_cell=after_cell, settled=at_end)))
