"""What is told of a cell that failed because memory ran out: `postmortem` of a verdict's cell."""

from __future__ import annotations

from dataclasses import dataclass, field

# Less is not worth a line, nor a command.
LEAST_BYTES = 1 << 20


@dataclass(frozen=True)
class KeptByCell:
    """By how much memory had grown when a cell ended, in bytes."""

    index: int
    kept_bytes: int


@dataclass(frozen=True)
class HeldByName:
    """What would come back if a name, or a local of a frame, went, in bytes."""

    name: str
    retained_bytes: int


@dataclass(frozen=True)
class Postmortem:
    """Sizes in bytes of one allocator's memory; None is unknown.

    allocator: "host", or a device as its framework writes it. asked to reserved: as the error tells
    them, else as they were right after it; of the host what malloc handed out, and what it has.
    fragmented: reserved less allocated. locals: what the frames of the traceback alone hold, and
    failing_cell all of that. fix: the magic that gives the releasable bytes back.
    """

    sentence: str
    allocator: str
    asked_bytes: int | None
    free_bytes: int | None
    allocated_bytes: int | None
    reserved_bytes: int | None
    fragmented_bytes: int | None
    cells: list[KeptByCell] = field(default_factory=list)
    names: list[HeldByName] = field(default_factory=list)
    locals: list[HeldByName] = field(default_factory=list)
    failing_cell_bytes: int | None = None
    releasable_bytes: int | None = None
    fix: str | None = None
    advice: list[str] = field(default_factory=list)
