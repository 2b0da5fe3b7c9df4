"""LibTorch's side of the accounting. Found by xleak.shell.torch_module, and only once torch is
imported. Sizes are bytes, addresses and ids are as id() gives them."""

from collections.abc import Callable

# --- host tensors ----------------------------------------------------------------------------

def install(cell: int = 0) -> int:
    """Count every CPU tensor from now on, on every thread, until the process ends.

    Tensors that are older are counted where Python can reach them, as those of ``cell`` (0: of no
    known one); return how many storages these were. A second call does nothing and returns 0.
    Raises RuntimeError where torch's allocator was replaced by one that cannot be followed.
    """

def installed() -> bool:
    """Return whether torch allocates through the counting allocator now."""

def begin_cell(index: int) -> None:
    """Start to count for a cell; a cell may begin within another."""

def end_cell(index: int) -> tuple[int, int, int] | None:
    """End it; return (kept, peak, allocated), or None for a cell that is not running.

    kept: live bytes at its end less those at its start. peak: the most that was live at once during
    the cell, what was there before it included. allocated: all that was asked for during it, also
    what was freed within it.
    """

def begin_scope() -> int:
    """Start to count for a stretch of a program and return its number, which is never 0.

    Scopes nest and overlap as they like, and leave cells alone.
    """

def scope_use(scope: int) -> tuple[int, int, int] | None:
    """Return (kept, peak, allocated) since a scope began, as end_cell() does; None once it has ended."""

def older_freed_bytes(scope: int) -> int:
    """Return the bytes that were freed since a scope began, of what was made before; 0 once it has ended."""

def end_scope(scope: int) -> None:
    """End it; one that has ended is left alone."""

def live_bytes() -> int:
    """Return the bytes of all blocks that are counted and not yet freed, as they were asked for."""

def blocks(min_bytes: int) -> list[tuple[int, int, int]]:
    """Return (address, bytes, cell) of each live block of at least ``min_bytes``; cell 0: none ran."""

def grown() -> list[tuple[int, int, int, int]]:
    """Return (address, bytes, copied, steps) of each block that the last cell grew: each step made a
    larger one, copied the one before into it and freed that.

    address: of the last one, 0 once it was freed. copied: bytes of what had been there before, over
    all steps. Told from 8 steps on whose blocks were together 4 times the last one; blocks of less
    than 64 KiB are not seen, and what is remembered are the few largest.
    """

def churned() -> list[tuple[int, int]]:
    """Return (bytes, count) of the blocks that the last cell made and freed again, by the size of one.

    Blocks of less than 1 MiB are not seen, and what is remembered are the sizes that came most often.
    """

# --- what is alive ---------------------------------------------------------------------------

class Storage:
    """The memory behind tensors."""

    @property
    def key(self) -> int:
        """Address of torch's StorageImpl, which all views share; Storage._cdata in Python."""

    @property
    def address(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def device(self) -> str: ...
    @property
    def cell(self) -> int | None:
        """The cell that allocated it; None where that was not seen."""

class StorageRow:
    """A storage and the tensors that show it. dtype, shape and grad_fn are the largest one's."""

    @property
    def storage(self) -> Storage: ...
    @property
    def tensors(self) -> list[int]:
        """id() of each tensor object; empty where only a ``.grad`` of another tensor has it."""

    @property
    def layouts(self) -> list[str]:
        """Of each of these "contiguous", "channels last" or "strided"; "" where it is not known."""

    @property
    def dtype(self) -> str:
        """As C++ names it: "float", "c10::Half", "long"."""

    @property
    def shape(self) -> list[int]:
        """-1 for a size that is symbolic."""

    @property
    def requires_grad(self) -> bool: ...
    @property
    def is_gradient(self) -> bool: ...
    @property
    def grad_fn(self) -> str | None: ...

class StorageWatch:
    """Follows storages without keeping their memory."""

    def alive(self) -> dict[int, int]:
        """Return, by key, the bytes of those that still have it; no other storage has such a key."""

def watch(tensor: object) -> StorageWatch:
    """Follow the storages of a tensor.

    Raises ValueError for another object.
    """

def census() -> list[StorageRow]:
    """Return the storages of all live tensors that the collector knows, each once.

    By type pointers and C++ fields: no user code runs. Tensors without memory (meta, fake) are left
    out; a sparse tensor has several rows.
    """

# --- autograd --------------------------------------------------------------------------------

class SavedStorage:
    @property
    def storage(self) -> Storage: ...
    @property
    def node(self) -> str: ...

class Graph:
    """An autograd graph as it is reached from one tensor."""

    @property
    def nodes(self) -> int: ...
    @property
    def depth(self) -> int:
        """Nodes on the longest chain."""

    @property
    def hooks(self) -> int:
        """Hooks of its nodes and of the leaves that it ends in."""

    @property
    def packed(self) -> int:
        """Tensors saved through ``saved_tensors_hooks``: what those keep is not in ``saved``."""

    @property
    def released(self) -> int:
        """Tensors that it had saved until a backward pass went through and let go of them."""

    @property
    def opaque(self) -> int:
        """Nodes that another C++ extension made: what those keep is not in ``saved`` either."""

    @property
    def saved(self) -> list[SavedStorage]:
        """What it keeps for the way back, each storage once; empty once backward() released it."""

    @property
    def parameters(self) -> list[Storage]:
        """Leaves that gradients are accumulated for."""

    @property
    def contexts(self) -> list[int]:
        """id() of the context of each autograd.Function."""

def graph(tensor_or_node: object) -> Graph:
    """Walk the graph of a tensor, or of its ``grad_fn``. Unpacks nothing and calls no hook.

    A tensor without a graph has one of 0 nodes. Raises ValueError for another object.
    """

# Address and number of a node: another one at the same address has another number.
NodeId = tuple[int, int]

class Passes:
    """How often an autograd graph goes through the same parameters."""

    @property
    def count(self) -> int:
        """By the parameter that is used least; 0 without any."""

    @property
    def in_sequence(self) -> bool:
        """Whether one pass led into the next, as the states of a recurrent network do."""

    @property
    def widest(self) -> int:
        """The most nodes that one node has next of it."""

    @property
    def node(self) -> NodeId:
        """The one that made the tensor; (0, 0) without a graph."""

def passes(tensor_or_node: object) -> Passes:
    """Count the forward passes that a graph goes back through.

    Raises ValueError for another object.
    """

def leads_to(tensor_or_node: object, node: NodeId) -> bool:
    """Return whether a graph has a node. Raises ValueError for another object."""

class KeptStorage:
    @property
    def tensor(self) -> int:
        """id() of the tensor whose graph keeps it."""

    @property
    def storage(self) -> Storage: ...

class KeptByGraphs:
    @property
    def rows(self) -> list[KeptStorage]: ...
    @property
    def complete(self) -> bool:
        """False: nothing is told of the tensors that were not reached in time."""

def kept_by_graphs(limit_ms: float, interrupted: Callable[[], bool] | None = None) -> KeptByGraphs:
    """Return a row for each live tensor and each storage that its graph leads to.

    A node that several graphs share is read once. Storages that are in no row of census() are held by
    graphs alone.
    """

# --- devices ---------------------------------------------------------------------------------

class DeviceStats:
    """What the caching allocator of an accelerator says of one device."""

    @property
    def device(self) -> str: ...
    @property
    def allocated_bytes(self) -> int: ...
    @property
    def allocated_peak_bytes(self) -> int:
        """Since the user's own last reset of torch's counter."""

    @property
    def reserved_bytes(self) -> int: ...
    @property
    def inactive_split_bytes(self) -> int: ...
    @property
    def handed_out_bytes(self) -> int:
        """All that it ever handed out."""

    @property
    def retries(self) -> int: ...
    @property
    def out_of_memory(self) -> int: ...

def has_device_stats() -> bool:
    """Return whether this torch (2.9 or later) can ask every accelerator in one way."""

def device_reader() -> object:
    """Return the function behind it, for _native.read_devices_by()."""

def device_stats() -> list[DeviceStats]:
    """Return a row for each device of the accelerators in use; wakes none."""

def follows_cuda() -> bool:
    """Return whether the module was built with what it needs to follow CUDA's allocator."""

def begin_device_cell(index: int) -> None:
    """Follow CUDA's allocator for a cell, where the user has initialised CUDA; wakes nothing."""

def end_device_cell(index: int) -> list[tuple[str, int]]:
    """Return (device, bytes): the most that was live at once during the cell, by torch's own counter.

    Exact also where torch's peak stands higher, and that one is left alone. Empty for a cell that was
    not followed from its start: CUDA was not in use, or torch uses another allocator there.
    """
