"""The border of libxleak_monitor.so and the facts read from the Python heap."""

from collections.abc import Callable
from typing import Any, Literal

class MonitorError(RuntimeError): ...

# --- cells -----------------------------------------------------------------------------------

class DeviceUse:
    device: str
    allocated_kept_bytes: int | None
    allocated_peak_bytes: int | None
    reserved_bytes: int | None

class CellRecord:
    """What one cell did to the process; None is unknown, never zero. Sizes in bytes."""

    index: int
    cell_id: str | None
    execution_count: int | None
    status: Literal["running", "ok", "error"]
    seconds: float
    cpu_seconds: float
    resident_before_bytes: int | None
    resident_after_bytes: int | None
    resident_peak_bytes: int | None
    peak_is_exact: bool
    heap_kept_bytes: int | None
    heap_free_bytes: int | None
    python_blocks_kept: int | None
    minor_faults: int
    major_faults: int
    devices: list[DeviceUse]

# (device, allocated_bytes, reserved_bytes, peak_bytes)
DeviceReading = tuple[str, int | None, int | None, int | None]

def begin_cell(
    cell_id: str | None, execution_count: int | None, devices: list[DeviceReading]
) -> int: ...
def end_cell(
    index: int,
    status: Literal["ok", "error"],
    execution_count: int | None,
    python_blocks: int | None,
    devices: list[DeviceReading],
) -> None: ...
def records() -> list[CellRecord]: ...
def set_enabled(enabled: bool) -> None: ...
def enabled() -> bool: ...

# --- findings --------------------------------------------------------------------------------

class Smell:
    code: str
    slug: str
    severity: Literal["note", "warning", "error"]

class Fix:
    title: str
    code: str

class Finding:
    code: str
    slug: str
    severity: Literal["note", "warning", "error"]
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
    key: str

class Judgement:
    added: list[Finding]
    changed: list[Finding]
    resolved: list[Finding]

class OutputEntry:
    """A literal fact for judge(): one entry of the output cache."""

    def __init__(
        self,
        number: int,
        shown_cell: int | None,
        held_bytes: int,
        mentioned: bool,
        type_name: str,
        holders: list[str],
    ) -> None: ...

def judge(cell: int, outputs: list[OutputEntry]) -> Judgement: ...
def findings() -> list[Finding]: ...
def smells() -> list[Smell]: ...
def ram_bytes() -> int: ...
def human(bytes: int) -> str: ...

# --- the C heap ------------------------------------------------------------------------------

class Heap:
    used_bytes: int
    free_bytes: int

def heap() -> Heap: ...
def trim_heap() -> int: ...
