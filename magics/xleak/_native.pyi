"""The border of libxleak_monitor.so and the facts read from the Python heap."""

from collections.abc import Callable, Sequence
from os import PathLike
from types import CodeType, FrameType
from typing import Any, Literal, TypeGuard, TypeVar, overload

_Type = TypeVar("_Type")

__version__: str

class MonitorError(RuntimeError):
    """A number could not be measured: what, why, what follows."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Result = TypeVar("_Result")

# --- who sees what runs ----------------------------------------------------------------------

class Unseen:
    """What out_of_sight() returns; its attributes are the function's."""

def out_of_sight(function: _Function, otherwise: object = ..., /) -> _Function:
    """The function, to be called where no tracer, profiler or tool of ``sys.monitoring`` sees it.

    otherwise: returned in place of a RecursionError, which then was_cut_short() tells of.
    """

def in_sight(function: Callable[..., _Result], /, *arguments: Any, **named: Any) -> _Result:
    """Calls code of the user's, which tracers see."""

def cut_short() -> None:
    """The recursion limit has cut short what xleak does by itself."""

def was_cut_short() -> bool:
    """Whether it has since the last call."""

# --- the user's line -------------------------------------------------------------------------

# (file, line, function), as a block of memory remembers where it was asked for. A text that is too long has
# lost its beginning, in whose place "…" stands.
_Place = tuple[str, int, str]

def install_line_reader() -> None:
    """Lets each large block remember the user's line that asked for it, until Python ends.

    Raises MonitorError where this CPython's frames cannot be read.
    """

def uninstall_line_reader() -> None:
    """Lets blocks have no line any more."""

def line_here() -> _Place | None:
    """Where the innermost code of the user's on this thread is; None where there is none, and where lines
    are off."""

def line_without_gil() -> _Place | None:
    """The same, read while other threads may have the GIL."""

def line_on_native_thread() -> _Place | None:
    """What a thread that Python does not know reads."""

def line_in(function: Callable[[Callable[[], None]], object]) -> _Place | None:
    """Calls the function from C with another, which reads the line without the GIL; what that read last."""

def read_lines(times: int, forgetting: bool = False, without_gil: bool = False) -> None:
    """Reads the line so many times, for measurements; forgetting what was found before each."""

def forget_lines() -> None:
    """Forgets the lines that were found before."""

def line_at(code: CodeType, offset: int) -> int:
    """The line of the instruction at a byte offset into a code object; that before it where it has none."""

# --- cells -----------------------------------------------------------------------------------

class DeviceUse:
    @property
    def device(self) -> str: ...
    @property
    def allocated_kept_bytes(self) -> int | None: ...
    @property
    def allocated_peak_bytes(self) -> int | None: ...
    @property
    def reserved_bytes(self) -> int | None: ...
    @property
    def allocated_bytes(self) -> int | None: ...
    @property
    def total_bytes(self) -> int | None: ...

class CellRecord:
    """What one cell did to the process; None is unknown, never zero. Sizes in bytes."""

    @property
    def index(self) -> int: ...
    @property
    def cell_id(self) -> str | None: ...
    @property
    def execution_count(self) -> int | None: ...
    @property
    def status(self) -> Literal["running", "ok", "error"]: ...
    @property
    def is_own(self) -> bool:
        """Whether it is nothing but commands of xleak's, and counts in no sum."""

    @property
    def seconds(self) -> float: ...
    @property
    def cpu_seconds(self) -> float: ...
    @property
    def resident_before_bytes(self) -> int | None: ...
    @property
    def resident_after_bytes(self) -> int | None: ...
    @property
    def resident_peak_bytes(self) -> int | None: ...
    @property
    def peak_is_exact(self) -> bool: ...
    @property
    def heap_kept_bytes(self) -> int | None: ...
    @property
    def heap_free_bytes(self) -> int | None: ...
    @property
    def small_heap_kept_bytes(self) -> int | None: ...
    @property
    def python_blocks_kept(self) -> int | None: ...
    @property
    def python_bytes_kept(self) -> int | None: ...
    @property
    def tensor_kept_bytes(self) -> int | None: ...
    @property
    def tensor_peak_bytes(self) -> int | None: ...
    @property
    def tensor_allocated_bytes(self) -> int | None: ...
    @property
    def allocated_alive_bytes(self) -> int | None:
        """Blocks of 64 KiB and more, of any library, that were born in it and alive at its end."""

    @property
    def allocated_peak_bytes(self) -> int | None:
        """The most of them on the heap at once, above what was alive when it began."""

    @property
    def at_peak(self) -> list[tuple[str, int, int]]:
        """(file, line, bytes) of the largest part of what was alive then."""

    @property
    def minor_faults(self) -> int: ...
    @property
    def major_faults(self) -> int: ...
    @property
    def devices(self) -> list[DeviceUse]: ...

class FlightCell:
    """The cell that began last, as the record of a process has it."""

    @property
    def index(self) -> int: ...
    @property
    def execution_count(self) -> int | None: ...
    @property
    def cell_id(self) -> str: ...
    @property
    def source(self) -> str:
        """Its first 200 bytes; what is no UTF-8 is replaced."""

    @property
    def running(self) -> bool:
        """Whether it had not ended when the process did."""

    @property
    def began(self) -> float:
        """Seconds since 1970; 0 where unknown."""

    @property
    def samples(self) -> list[tuple[float, int, int | None]]:
        """(seconds since it began, resident bytes, bytes left below the limit), in their order."""

class FlightRecord:
    """What the file of a process says. Counts of kills are (in its control group, on the machine)."""

    @property
    def pid(self) -> int: ...
    @property
    def living(self) -> bool: ...
    @property
    def same_boot(self) -> bool: ...
    @property
    def started(self) -> float: ...
    @property
    def connection_file(self) -> str: ...
    @property
    def folder(self) -> str: ...
    @property
    def versions(self) -> str: ...
    @property
    def cell(self) -> FlightCell | None: ...
    @property
    def limit_bytes(self) -> int | None: ...
    @property
    def limit_is_group(self) -> bool: ...
    @property
    def kills_before(self) -> tuple[int | None, int | None]: ...
    @property
    def kills_after(self) -> tuple[int | None, int | None]: ...
    @property
    def asked_to_end(self) -> bool: ...
    @property
    def told(self) -> bool: ...
    @property
    def exit_status(self) -> int | None: ...

def keep_flight_record(
    path: PathLike[str], connection_file: str, folder: str, versions: str
) -> None:
    """Keep the last cell and its sizes in this new file, which outlives a SIGKILL.

    Raises MonitorError where it cannot be made.
    """

def drop_flight_record() -> None:
    """Delete that file, if there is one. Nothing in a forked child."""

def announce_cell(source: bytes, execution_count: int | None) -> None:
    """Say what the next cell is, for that file alone. source: UTF-8, cut to 200 bytes."""

def cell_answered() -> None:
    """Say that the reply to the cell that ended last is sent, for that file alone. Who is killed before was
    not between cells yet."""

def read_flight_record(path: PathLike[str]) -> FlightRecord:
    """Read a record. Raises MonitorError, also for a file that is none."""

def mark_flight_told(path: PathLike[str]) -> None:
    """Note in a record that the next session has told of it. Raises MonitorError."""

def mark_flight_exit(path: PathLike[str], exit_status: int) -> None:
    """Note in a record how its process ended; negative is a signal. Raises MonitorError."""

# (device, allocated, reserved, peak, inactive split, ever handed out, the cell's own peak, total), bytes
DeviceReading = tuple[
    str, int | None, int | None, int | None, int | None, int | None, int | None, int | None
]

def begin_cell(
    cell_id: str | None,
    execution_count: int | None,
    devices: Sequence[DeviceReading],
    python_blocks: int | None = None,
    python_bytes: int | None = None,
) -> int:
    """Start the account of a cell; return its index, from 1, or 0 where accounting is off.

    An empty ``devices`` says that no framework was loaded yet. ``python_blocks`` and ``python_bytes`` as end_cell() has
    them, where no cell was counted before.
    """

def end_cell(
    index: int,
    status: Literal["ok", "error"],
    execution_count: int | None,
    python_blocks: int | None,
    devices: Sequence[DeviceReading],
    tensors: tuple[int, int, int] | None = None,
    python_bytes: int | None = None,
) -> None:
    """End the account of a cell; an index that is 0, unknown or ended is left alone.

    ``python_blocks`` is ``sys.getallocatedblocks()`` now, ``tensors`` (kept, peak, allocated)
    in bytes, ``python_bytes`` what is in use in CPython's own pools.
    Raises ValueError for another status.
    """

def exclude_python_use(blocks: int, bytes: int) -> None:
    """xleak itself made this of Python's allocator, since the last reading: no cell kept it."""

def mark_own(index: int) -> None:
    """The cell is xleak's own: it counts in no sum. An index without a record is left alone."""

def records() -> list[CellRecord]:
    """Return all records, oldest first. Empty in a forked child."""

def latest_record() -> CellRecord | None:
    """Return the record of the cell that began last, or None where there is none."""

def record(index: int) -> CellRecord | None:
    """Return the record of one index, or None where there is none."""

def resident_bytes() -> int | None:
    """Return the resident size of the process as it is now; None where it cannot be read, or in a forked
    child."""

def change_of(index: int) -> tuple[int | None, int, int]:
    """Return (moved, kept, spike), in bytes, of one cell; zeros for one of xleak's own, or an index
    without a record.

    moved: up or down, by the counter that moved most; None where the C heap is not known. kept: of the
    C heap. spike: by how much the resident peak stood above the end.
    """

class ProcessState:
    """What the process has beside objects, read after each cell."""

    def __init__(
        self,
        handlers: list[Any],
        threads: dict[int, Any],
        count_exit_hooks: Callable[[], int],
    ) -> None: ...
    def changed(self) -> bool:
        """Return whether anything did since the last call, by number and identity alone."""

    @property
    def children(self) -> bytes:
        """The ids of the processes that this thread started and that nobody waited for, as of the last
        call; empty where the operating system does not tell."""

    @property
    def exit_hooks(self) -> int:
        """How many callbacks at exit there were, as of the last call."""

class OpenFiles:
    """The files that the process has open under a name, but those that databases open and close at
    any time."""

    def changed(self) -> bool:
        """Return whether others may be open than at the last call."""

    def files(self) -> list[tuple[int, str]]:
        """Return (descriptor, path) of each, as of the last change."""

def read_devices_by(reader: object) -> None:
    """Read devices while a cell runs by _torch.device_reader(), whose module is never unloaded.

    Raises ValueError for another capsule.
    """

class GuardNote:
    """One thing that the guard tells. Sizes in bytes."""

    @property
    def device(self) -> str: ...
    @property
    def level(self) -> Literal["normal", "warning", "critical"]: ...
    @property
    def used_bytes(self) -> int:
        """What cannot be reclaimed: never page cache."""
    @property
    def limit_bytes(self) -> int: ...
    @property
    def limit(self) -> Literal["cgroup", "address_space", "machine", "device"]: ...
    @property
    def index(self) -> int | None:
        """The cell that ran, None between cells."""
    @property
    def grown_bytes(self) -> int | None:
        """By how much this process has grown since that cell began."""
    @property
    def sentence(self) -> str: ...
    @property
    def again(self) -> bool:
        """As a reason to stop: the cell was stopped before and went on growing."""

class LimitState:
    """A limit as it was last read. Sizes in bytes."""

    @property
    def device(self) -> str: ...
    @property
    def level(self) -> Literal["normal", "warning", "critical"]: ...
    @property
    def used_bytes(self) -> int: ...
    @property
    def limit_bytes(self) -> int: ...
    @property
    def limit(self) -> Literal["cgroup", "address_space", "machine", "device"]: ...
    @property
    def warning_bytes(self) -> int:
        """Memory is short from here on."""
    @property
    def critical_bytes(self) -> int: ...

def set_guard(policy: str) -> None:
    """Has a thread watch the limits of the process: off, warn or interrupt. Raises ValueError for
    others. Where no thread can be had it stays off."""

def call_guard(hook: Callable[[], BaseException | bool]) -> None:
    """Calls hook() on the main thread while a cell runs and the guard has something for it, between
    two instructions of whichever code; an exception that it returns is raised there. After True it is
    called again in the functions that run next."""

def near_limits() -> list[GuardNote]:
    """Of each limit whose level is not normal, what is to be told to who comes only now."""

def guard_lines() -> list[GuardNote]:
    """What is to be read under a cell, each once."""

def reason_to_stop() -> GuardNote | None:
    """Why the running cell is to be interrupted, None where it is not."""

def cell_stopped() -> None:
    """The running cell was interrupted: not again before half of the rest is gone too."""

def look_at_limits() -> None:
    """Reads all limits now."""

def limits() -> list[LimitState]:
    """The limits that the guard watches, as last read."""

def host_limits() -> list[tuple[Literal["cgroup", "address_space", "machine"], int, int]]:
    """(limit, used bytes, bytes that it allows) of each limit of the host's, as they are now, whether or
    not the guard is on."""

def follow_lines(globals: dict[str, Any]) -> None:
    """From now on samples, every 50 ms, the line of the code with these globals that a cell is in."""

def call_while_running(hook: Callable[[], None], every_seconds: float) -> None:
    """Calls hook() now and then while a cell runs, between two instructions of its code, which gets
    what it raises."""

def running_cell() -> tuple[int, float, int, int] | None:
    """(index, seconds, resident bytes before it, resident bytes now) of the youngest cell that runs."""

def begin_line_times() -> None:
    """A cell begins: forgets where the time of the last one went."""

def line_times() -> tuple[list[tuple[str, int, float]], float]:
    """([(file, line, seconds)], all seconds) since the last cell began."""

def set_enabled(enabled: bool) -> None:
    """Switch the accounting of new cells on or off."""

def enabled() -> bool:
    """Return whether new cells are accounted."""

# --- findings --------------------------------------------------------------------------------

class Smell:
    @property
    def code(self) -> str: ...
    @property
    def slug(self) -> str: ...
    @property
    def severity(self) -> Literal["note", "warning", "error"]: ...
    @property
    def in_source(self) -> bool: ...
    @property
    def at_run_time(self) -> bool: ...

class Edit:
    @property
    def cell(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def stop(self) -> int: ...
    @property
    def text(self) -> str: ...

class UnusedIgnore:
    @property
    def cell(self) -> int: ...
    @property
    def line(self) -> int: ...
    @property
    def text(self) -> str: ...

class DoubtfulCell:
    @property
    def cell(self) -> int: ...
    @property
    def python(self) -> str: ...
    @property
    def may_be_refused(self) -> bool: ...
    @property
    def cut_line(self) -> int: ...

class SourceReport:
    @property
    def findings(self) -> list[Finding]: ...
    @property
    def unused(self) -> list[UnusedIgnore]: ...
    @property
    def doubtful(self) -> list[DoubtfulCell]: ...

class LintedFile:
    @property
    def path(self) -> str: ...
    @property
    def problem(self) -> str | None: ...
    @property
    def is_notebook(self) -> bool: ...
    @property
    def has_cells(self) -> bool: ...
    @property
    def first_lines(self) -> list[int]: ...
    @property
    def sources(self) -> list[str]: ...
    @property
    def report(self) -> SourceReport: ...
    @property
    def modules(self) -> list[LintedFile]: ...

def use_grammar(language: object) -> None: ...
def lint_cells(texts: list[str]) -> LintedFile: ...
def lint_text(path: str | PathLike[str], data: bytes) -> LintedFile: ...
def lint_files(paths: Sequence[str | PathLike[str]], threads: int) -> list[LintedFile]: ...

class Fix:
    @property
    def title(self) -> str: ...
    @property
    def code(self) -> str: ...
    @property
    def edits(self) -> list[Edit]: ...
    @property
    def safe(self) -> bool: ...

class Finding:
    @property
    def code(self) -> str: ...
    @property
    def slug(self) -> str: ...
    @property
    def severity(self) -> Literal["note", "warning", "error"]: ...
    @property
    def basis(self) -> Literal["source", "measured"]: ...
    @property
    def cell(self) -> int: ...
    @property
    def cause_cell(self) -> int | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def column(self) -> int: ...
    @property
    def bytes(self) -> int | None: ...
    @property
    def name(self) -> str | None: ...
    @property
    def holders(self) -> list[str]: ...
    @property
    def path(self) -> list[str]: ...
    @property
    def timed_lines(self) -> list[tuple[int, int, int]]:
        """(cell, first line, last line), of a finding from the source."""
    @property
    def message(self) -> str: ...
    @property
    def fixes(self) -> list[Fix]: ...
    @property
    def key(self) -> str: ...

class Judgement:
    @property
    def added(self) -> list[Finding]: ...
    @property
    def changed(self) -> list[Finding]: ...
    @property
    def resolved(self) -> list[Finding]: ...

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
        together: list[int] = ...,
        line: int | None = None,
    ) -> None: ...
    @property
    def number(self) -> int: ...
    @property
    def shown_cell(self) -> int | None: ...
    @property
    def held_bytes(self) -> int: ...
    @property
    def mentioned(self) -> bool: ...
    @property
    def type_name(self) -> str: ...
    @property
    def holders(self) -> list[str]: ...
    @property
    def together(self) -> list[int]: ...
    @property
    def line(self) -> int | None: ...

class Holder:
    """A literal fact for judge(): what keeps memory that no name and no output entry reaches."""

    def __init__(
        self,
        kind: str,
        label: str,
        held_bytes: int,
        since_cell: int | None,
        largest: str,
        count: int,
        release: str,
        shown_bytes: int = 0,
        line: int | None = None,
    ) -> None: ...
    @property
    def kind(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def held_bytes(self) -> int: ...
    @property
    def since_cell(self) -> int | None: ...
    @property
    def largest(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def release(self) -> str: ...
    @property
    def shown_bytes(self) -> int: ...
    @property
    def line(self) -> int | None: ...

def judge(cell: int, outputs: list[OutputEntry], holders: list[Holder]) -> Judgement:
    """Run every smell over the facts and return what changed.

    ``outputs`` is the whole output cache and ``holders`` all there are: a finding whose fact is
    missing counts as resolved.
    """

def set_rules_off(codes: set[str]) -> None:
    """From the next judge() on the rules with these codes find nothing."""

def findings() -> list[Finding]:
    """Return what is known to leak, most bytes first."""

def smells() -> list[Smell]:
    """Return every smell that is built in."""

def ram_bytes() -> int:
    """Return the memory of the machine, or of this process's cgroup where that is less.

    Raises MonitorError where /proc/meminfo cannot be read.
    """

def human(bytes: int) -> str:
    """Return a size in binary units, three digits at most: "64 MiB", "1.5 GiB"."""

# --- the C heap ------------------------------------------------------------------------------

class Heap:
    @property
    def used_bytes(self) -> int: ...
    @property
    def free_bytes(self) -> int: ...

def heap() -> Heap:
    """Return what malloc handed out and what it keeps for later, now.

    Raises MonitorError where malloc is not glibc's own (2.33 or later).
    """

class ProcessPages:
    """What the pages of this process that are in memory were mapped for. Bytes.

    ``files``: mapped files and libraries. ``shared``: without a file, for several processes. ``others``: this process's
    alone. Of them ``free_heap``: what malloc keeps for later, ``small_heap``: what it gave out in less than 64 KiB.
    """

    @property
    def files(self) -> int: ...
    @property
    def shared(self) -> int: ...
    @property
    def others(self) -> int: ...
    @property
    def free_heap(self) -> int: ...
    @property
    def small_heap(self) -> int: ...

def process_pages() -> ProcessPages:
    """Read them now: a millisecond for each 500 maps or so.

    Raises MonitorError where malloc is not glibc's own or /proc/self/smaps cannot be read.
    """

def releasable_heap_bytes() -> int | None:
    """Return what trim_heap() would give back at least of what the main thread freed.

    None where malloc is not glibc's own or /proc/self/smaps tells no heap. Takes milliseconds.
    """

def trim_heap() -> int:
    """Give free pages of the C heap back; return the bytes by which the resident size fell."""

# --- large blocks ----------------------------------------------------------------------------

class LedgerState:
    """Whether large blocks are followed; if not, ``reason`` is a sentence. ``slots``: rewritten imports."""

    @property
    def installed(self) -> bool: ...
    @property
    def reason(self) -> str: ...
    @property
    def slots(self) -> int: ...

class LargeBlock:
    """A live block of 64 KiB and more, whichever library asked for it.

    ``bytes``: as asked for; of a map without a file, what of it is in memory or swapped out.
    ``reserved_bytes``: the length of a map, else 0. ``cell``: whose birth it is; 0: between cells, or
    no cell's. ``order``: of births, it wraps at 2^32. ``site``: (file, line, function) of the user's
    innermost frame, None where none is known.
    """

    @property
    def address(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def reserved_bytes(self) -> int: ...
    @property
    def kind(self) -> Literal["heap", "anonymous_map", "file_map", "python_arena"]: ...
    @property
    def cell(self) -> int: ...
    @property
    def order(self) -> int: ...
    @property
    def thread(self) -> int: ...
    @property
    def site(self) -> tuple[str, int, str] | None: ...

class BlockSums:
    """Bytes of the large blocks of the heap; ``mapped_bytes``: length of the maps without a file."""

    @property
    def alive_bytes(self) -> int: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def mapped_bytes(self) -> int: ...

def install_ledger() -> LedgerState:
    """Follow large blocks from here on, by the import tables of all libraries. Any number of calls are one."""

def ledger_state() -> LedgerState: ...
def uninstall_ledger() -> None:
    """Give the libraries their functions back, and forget all blocks."""

def births_belong_to(cell: int) -> None:
    """Say whose blocks are born from here on, 0 for no cell's, and begin a new peak."""

def living_blocks() -> list[LargeBlock]:
    """Return all that are alive, by address; those released unseen are dropped. Takes milliseconds."""

def block_sums() -> BlockSums:
    """Return what is alive, and its peak since births_belong_to(): off by 4 MiB for each other thread."""

def made_up_the_peak() -> list[tuple[tuple[str, int, str] | None, int]]:
    """Return (site, bytes) of what was alive at that peak, of all births, the largest first."""

# --- the Python heap -------------------------------------------------------------------------

# Of an object of the user's these ask nothing: types are compared by identity, and a container is
# read as C has it, whatever its class answers. The copies are taken in one piece: no thread and no
# finalizer changes the container meanwhile.

@overload
def is_exactly(value: object, types: type[_Type]) -> TypeGuard[_Type]: ...
@overload
def is_exactly(value: object, types: tuple[type, ...]) -> bool:
    """Return whether an object is of one of the types itself, and of no subtype."""

@overload
def is_kind_of(value: object, types: type[_Type]) -> TypeGuard[_Type]: ...
@overload
def is_kind_of(value: object, types: tuple[type, ...]) -> bool:
    """Return whether an object's type is one of the types or derives from one."""

def items_of(mapping: object, start: int = 0, stop: int = ...) -> list[tuple[Any, Any]]:
    """Return the (key, value) pairs of a dictionary; none of another object. start, stop: as of a slice."""

def entries_of(mapping: object) -> dict[Any, Any]:
    """Return a copy of a dictionary's entries whose keys are exact text or integers, which are looked up
    without the user's code; an empty one for another object."""

def names_in(mapping: object) -> list[str]:
    """Return the keys of a dictionary that are exact text; none of another object."""

def values_of(container: object, start: int = 0, stop: int = ...) -> list[Any]:
    """Return the elements of a list, a tuple, a set or a deque, or the values of a dictionary; none of
    another object. start, stop: as of a slice."""

def value_at(mapping: object, key: object) -> Any:
    """Return what a dictionary has under exact text or an exact integer, None without it. No other key
    is compared."""

def may_have_run(code: CodeType) -> bool:
    """Return whether a function with this code may have been called. True too where CPython does not say, as from 3.12
    on."""

def locals_of(frame: FrameType) -> dict[str, Any]:
    """Return a copy of the local variables of a function that runs, by name; an empty one for the code of a module or a
    class. The frame is left as it was."""

def fields_of_module(name: str) -> dict[str, Any]:
    """Return the dictionary of a module that is imported, which is not asked; an empty one where
    sys.modules has something else."""

def bindings_fingerprint(
    entries: dict[int, Any], namespaces: list[dict[str, Any]], last: object
) -> int:
    """Return a number that changes when an entry, a reference to one, a value of the namespaces or
    ``last`` does. Small text and numbers do not count. All dictionaries are exact ones.
    """

Place = Literal["out", "user_ns", "hidden", "hook"]

def cached_entries(
    user_ns: dict[str, Any],
    hidden: dict[str, Any],
    out: dict[int, Any],
    hook: dict[str, Any],
    scalars: bool,
) -> list[tuple[Place, Any, Any, int, int]]:
    """Return (place, key, value, n of ``Out[n]``, the least n with that value) of every reference of the shell's to a
    shown value. An n is 0 where there is none.

    In the order ``Out``, hidden names ``_n`` each with the user's name for the same, underscores, the user's
    names for entries of ``Out`` alone. Read in one piece, without running other code. Without ``scalars``, text and
    numbers are left out where they are small.
    """

def user_names(
    user_ns: dict[str, Any], hidden: dict[str, Any], out: dict[int, Any], hook: dict[str, Any]
) -> list[str]:
    """Return the user's names that are not the shell's doing, as far as they can be encoded."""

def may_keep_memory(error: BaseException, user_ns: dict[str, Any]) -> bool:
    """Return whether an error, those behind it and their frames may keep more than a name of ``user_ns`` shows.

    False where all that they refer to is small, the value of a name, or code. Runs no code.
    """

def is_small_scalar(value: object) -> bool:
    """Return whether a value is text or a number, and below 64 KiB."""

def parts_of(object: object, barriers: list[object]) -> set[int]:
    """Return the identity of an object and those of everything large that it reaches."""

def reaches(object: object, parts: set[int], barriers: list[object]) -> bool:
    """Return whether an object is or reaches one of the parts."""

def lengths_in(names: dict[str, Any], types: tuple[type, ...]) -> dict[str, tuple[int, int]]:
    """Return the id and the length of each value that is exactly of one of the built-in types. Names ``_n`` are left
    out.
    """

def untracked_targets(objects: list[Any]) -> list[Any]:
    """Return what weak references among the objects lead to and the collector does not track: arrays, say."""

class LiveObjects:
    """The objects that the collector tracked when this was made, by type. Keeps them alive until
    the end of the ``with`` block, which it must have."""

    def __init__(self) -> None: ...
    def __enter__(self) -> LiveObjects: ...
    def __exit__(self, *error: object) -> None: ...
    def instances(self, base: type) -> list[Any]:
        """Return those of a type or of a subtype, by the type pointer alone."""

    def made_in(self, names: dict[str, Any]) -> list[Any]:
        """Return the instances of classes, and the functions, that the code of a namespace made."""

def follow_births(size: int, libraries: list[str]) -> bool:
    """From now on note the line that makes each object whose type has this ``__basicsize__``, the
    innermost that is not in a file whose path begins with one of ``libraries``.

    False where that goes on already. Ended by end_births(); costs a microsecond or a few an object.
    """

def end_births() -> None:
    """Note no more of them, and forget those that were."""

def birth_place(object: int) -> tuple[str, int] | None:
    """Return (file, line) by id() of an object that still lives, which the caller must know; None where
    that was not noted."""

class GraphBytes:
    """What the autograd graph of one tensor has saved. Sizes in bytes."""

    @property
    def tensor(self) -> int:
        """id() of it."""

    @property
    def way(self) -> str: ...
    @property
    def kept(self) -> int: ...
    @property
    def own(self) -> int:
        """The tensor's own memory."""

    @property
    def storages(self) -> dict[int, int]:
        """What was counted: by the key of the storage, its bytes."""

class PinnedView:
    """What shows a part of the memory behind it, or a part of a table that does. Sizes in bytes."""

    @property
    def object(self) -> int:
        """id() of it."""

    @property
    def way(self) -> str: ...
    @property
    def shown(self) -> int: ...
    @property
    def behind(self) -> int: ...
    @property
    def memory(self) -> int:
        """A number that all views of the same memory have."""

# (cell, (file, line, function), bytes) of what one cell made at one place.
_Birth = tuple[int, _Place | None, int]

class Holding:
    """Memory that cells made, in pieces of 64 KiB and more, under what keeps it."""

    @property
    def way(self) -> str: ...
    @property
    def type_name(self) -> str:
        """Of what keeps it."""

    @property
    def by_users_code(self) -> bool:
        """Whether the way goes through a function of the user's, or an object of a class of theirs."""

    @property
    def bytes(self) -> int:
        """What would be freed if that let go of it."""

    @property
    def count(self) -> int: ...
    @property
    def births(self) -> list[_Birth]: ...

class HeldBlock:
    """A block of 64 KiB and more that a cell made, and the names that lead to it."""

    @property
    def key(self) -> tuple[int, int]:
        """Its address, and the order of its birth: no other block has both."""

    @property
    def bytes(self) -> int: ...
    @property
    def is_open(self) -> bool:
        """Whether containers alone lead from a name to it, or to the array or table that has it."""

    @property
    def births(self) -> list[_Birth]: ...
    @property
    def names(self) -> list[str]: ...

class Owned:
    """Bytes of the host that somebody has: of CPython's pools, of malloc in small blocks, in the ledger's blocks."""

    @property
    def pooled(self) -> int: ...
    @property
    def small(self) -> int: ...
    @property
    def large(self) -> int: ...

class HeapAccount:
    """Whose the memory of the process is.

    ``of_groups``: the large blocks of each group. ``rest``: what else is in the graph, but for its large blocks, which
    are ``unnamed``. ``unseen``: those that no object shows. Cell 0: no cell made them. ``pools``: what is free in the
    pools of libraries.
    """

    @property
    def groups(self) -> list[Owned]: ...
    @property
    def rest(self) -> Owned: ...
    @property
    def of_groups(self) -> list[list[_Birth]]: ...
    @property
    def unnamed(self) -> list[_Birth]: ...
    @property
    def unseen(self) -> list[_Birth]: ...
    @property
    def pools(self) -> int: ...

class HeapSnapshot:
    """The heap as a graph: who keeps what. Holds no reference to the objects. Sizes in bytes.

    A label names a holder. What an object itself takes has the numbers and short texts in it that
    nothing else refers to, and the memory behind an array, a tensor or an Arrow buffer.
    """

    @staticmethod
    def take(
        slots: Sequence[tuple[dict[Any, Any], object, str]],
        roots: Sequence[tuple[str, object]],
        saved: Sequence[tuple[int, int, int, int, str, list[int]]],
        deadline_ms: float | None,
        interrupted: Callable[[], bool] | None,
    ) -> HeapSnapshot | None:
        """Read the heap and find who keeps what. None: out of time or interrupted.

        ``slots``: (dictionary, its own key object, label): the entry leads to its value through the
        label, and entries with one label are one holder. ``roots``: (label, object). ``saved``: (id
        of a tensor, storage key, where its memory begins, bytes, device, ids of the tensors that
        show it) of what its autograd graph keeps, as xleak._torch tells it.
        """

    @property
    def object_count(self) -> int: ...
    @property
    def reference_count(self) -> int: ...
    def retained_bytes(self, label: str) -> int:
        """Return what would be freed with a label; 0 where all of it has another holder."""

    def retained_by_device(self, label: str) -> dict[str, int]:
        """Return what of the retained bytes is tensors' own, by device."""

    def own_bytes(self, label: str) -> int:
        """Return what the value of a label itself takes."""

    def reachable_bytes(self, label: str, most: int) -> int | None:
        """Return all that a label leads to, but through modules, types and namespaces.

        None where that takes more than ``most`` references.
        """

    def other_ways(self, label: str, most: int) -> list[str]:
        """Return how else the value of a label is reached, nearest first: `Out[2]`, `cache['a']`."""

    def ways_besides(self, object: object, without: list[str], most: int) -> list[str]:
        """Return how an object is reached through none of some labels, nearest first."""

    def ways_to_parts(self, object: object, without: list[str], most: int) -> list[str]:
        """Return how parts of 64 KiB and more of what an object leads to are reached through none
        of some labels: one way for each holder, the largest part first."""

    def way_to(self, object: object) -> str:
        """Return a shortest way to an object, empty where there is none."""

    def is_reached(self, object: object) -> bool:
        """Return whether a label leads to an object; False where native code alone does."""

    def only_in_graphs(self, tensors: list[Any]) -> list[Any]:
        """Return those that native code and other tensors alone refer to, as graphs do."""

    def retained_by(self, object: object) -> int:
        """Return what would be freed with an object."""

    def keeping(self, objects: list[Any], least: int) -> list[tuple[Any, int]]:
        """Return (object, bytes) of those that alone keep at least so many bytes."""

    def graphs(self, least: int, shared: bool = False, together: bool = False) -> list[GraphBytes]:
        """Return the tensors whose autograd graphs keep at least so many bytes, alone or ``shared``; with ``together``
        also those of one container that do so together."""

    def pinned_views(self, least: int, fraction: int) -> list[PinnedView]:
        """Return what shows at most a ``fraction``-th of at least so many bytes, which nothing else shows.

        Tensors, arrays, memoryviews, Arrow objects, and the tables and series that have such a part. Tensors with
        gradients are left out: a copy of them has a graph.
        """

    def freed_by_detaching(self, tensors: list[int], everywhere: bool = ...) -> int:
        """Return what would be freed if each tensor, by its id, were detached where its way leads, or everywhere that a
        name or a container has it."""

    def freed_by_copying(self, objects: list[int]) -> int:
        """Return what would be freed if a copy took the place of each; the copies are not counted."""

    def freed_behind(self, objects: list[int], memory: list[int]) -> int:
        """Return what of the memory behind views would be freed if copies took the place of these objects."""

    def freed_by(
        self, labels: list[str], links: list[tuple[object, object]] = ...
    ) -> dict[str, int]:
        """Return, by owner, what would be freed once labels and references (from, to) are gone.

        Owners: "malloc", "pymalloc", "arrow", "tensorflow", "cuda:0", "unknown".
        """

    def would_wait(self, labels: list[str], links: list[tuple[object, object]] = ...) -> bool:
        """Return whether some of that would wait for the collector: a cycle, or what garbage has."""

    def waiting(self, without: list[object]) -> dict[str, int]:
        """Return, by owner, the garbage that waits for the collector, but what ``without`` leads to."""

    def shares(
        self, labels: list[str], others: list[str], least_bytes: int
    ) -> list[tuple[int, dict[str, int], list[int]]]:
        """Return (label, bytes by owner, other labels) of what would be freed if all labels and ``others`` were gone,
        where it is so much, the labels as places in the list. What several lead to is the first one's; the others
        lead to much of it too.
        """

    def freed_without(self, objects: list[Any]) -> int:
        """Return what would be freed if nothing referred to the objects any more."""

    def holders_of(self, object: object) -> int:
        """Return how many objects and labels refer to an object, and native code as one."""

    def containers(self, least: int, most: int) -> list[tuple[Any, str, int, list[Any]]]:
        """Return (object, way, kept bytes, objects on the way) of the lists, dictionaries, sets,
        deques and the like that alone keep at least so much, most first.

        Those that a name of the user's leads to, subclasses and attributes' dictionaries included;
        the way starts with the value of the name and ends before the object.
        """
    def garbage(self, objects: list[Any]) -> list[Any]:
        """Return those of the objects that nothing leads to but other garbage."""

    def garbage_cycles(self, suspects: list[Any]) -> list[tuple[list[Any], int]]:
        """Return (its suspects, bytes) of each cycle of garbage that is there because of suspects.

        What a cycle without a suspect leads to waits for the collector anyway and is left out.
        """

    def way_around(self, object: object) -> tuple[str, list[Any]]:
        """Return the steps of the shortest way from garbage back to itself, `.child.parent`, and
        the objects that they lead to. Empty where there is none."""

    def keeps(self, holder: object, object: object) -> bool:
        """Return whether an object would go with a holder."""

    def kept_by(self, labels: list[str], objects: list[Any]) -> list[Any]:
        """Return those of the objects that nothing but the labels keeps."""

    def led_to(self, starts: list[Any], wanted: list[Any]) -> list[Any]:
        """Return those of ``wanted`` that ``starts`` are or lead to, but through modules, types and
        namespaces."""

    def births(self, label: str) -> list[_Birth]:
        """Return where that was made which would be freed with a label, most bytes first: pieces of 64 KiB and more.

        Empty while the ledger is off.
        """

    def births_together(self, labels: list[str]) -> list[_Birth]:
        """Return the same of what would be freed if several labels were gone."""

    def births_of_own(self, objects: list[Any]) -> list[_Birth]:
        """Return where the memory of objects themselves was made, whoever else has it: blocks of 64 KiB and more."""

    def elements(self, container: object) -> tuple[int, list[_Birth]]:
        """Return how many elements of a container have memory that it alone keeps, in pieces of 64 KiB and more, and
        where that was made. None while the ledger is off."""

    def piles(self, least: int) -> list[tuple[Any, str, list[Any], list[tuple[int, list[_Birth]]]]]:
        """Return (object, way, objects on the way, parts) of what alone keeps at least so many bytes in two parts and
        more, each with memory of 64 KiB and more that cells made.

        A part is (bytes, births); they come in the order in which they were made. A name of the user's leads there.
        """

    def names_leading_to(self, object: object) -> list[str]:
        """Return the labels that lead to an object, but through modules and namespaces."""

    def holdings(self, blocks: list[int], last: int, least: int) -> list[Holding]:
        """Return what keeps the blocks with these addresses, where it is at least so many bytes.

        The way to them ends at the object with the id ``last``, where it leads there.
        """

    def blocks(self, labels: list[str]) -> list[HeldBlock]:
        """Return the large blocks that some labels lead to, but through modules, namespaces and autograd graphs. Empty
        while the ledger is off."""

    def blocks_behind(self, object: int) -> list[tuple[int, int]]:
        """Return the keys of those that the object with an id leads to."""

    def births_outside(self) -> list[_Birth]:
        """Return who made what native code or a running function alone keeps, most bytes first."""

    def out_of_reach(
        self, in_use: list[str], hooks: list[str], goes_on: bool, least: int
    ) -> list[Holding]:
        """Return what cells made and no label of a slot leads to, by what keeps at least so many bytes of it.

        The labels ``hooks`` are none; not what the labels ``in_use`` lead to, nor a coroutine of the user's where it
        ``goes_on``, nor what native code and running functions hold. Empty while the ledger is off.
        """

    def account(self, groups: list[list[str]], pages: ProcessPages) -> HeapAccount:
        """Return whose the memory of the process is, by groups of labels: what one leads to and none before it, but
        through modules, types and namespaces. pages: read before the heap was, which takes memory of its own."""

    def largest(self, label: str, most: int) -> list[tuple[str, int]]:
        """Return (way, own bytes) of the largest objects that only a label keeps."""

def type_name(object: object) -> str:
    """Return the name that an object's type was made with."""

def python_pools() -> tuple[int, int] | None:
    """Return the bytes in use in CPython's own pools and those that their arenas take, or None where it does not tell.

    Walks the arenas: milliseconds on a large heap.
    """
