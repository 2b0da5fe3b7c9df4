"""What the tensors on the host do in each cell, where xleak has a module for the torch that runs."""

from __future__ import annotations

import sys

from xleak.shell import torch_module

# (kept, peak, allocated), bytes. See end_cell in _torch.pyi.
TensorReading = tuple[int, int, int]

_REPLACED = (
    "tensor memory per cell is unknown: another library stands before torch's allocator. "
    "Restart the kernel without it to count again."
)

# The running cell, where it began before torch was imported.
_before_torch = 0
_failure: str | None = None


def begin_cell(index: int) -> None:
    """Starts to count for a cell. Does nothing where torch is not imported; never raises."""
    global _before_torch
    if "torch" not in sys.modules:
        _before_torch = index
    elif _watched(0):
        from xleak import _torch

        _torch.begin_cell(index)


def end_cell(index: int) -> TensorReading | None:
    """What the cell did, None where nobody counted from its start; never raises."""
    global _before_torch
    if "torch" not in sys.modules:
        return None
    imported_torch, _before_torch = _before_torch == index, 0
    # A cell that imports torch made all tensors that there are.
    if not _watched(index if imported_torch else 0):
        return None
    from xleak import _torch

    return _torch.end_cell(index)


def counted() -> bool:
    """Whether torch is imported and its tensors are counted, from now on at the latest."""
    return "torch" in sys.modules and _watched(0)


def why_unknown() -> str | None:
    """One sentence where torch is imported and its tensors are not counted, else None."""
    return torch_module.why_missing() or _failure


def _watched(cell: int) -> bool:
    """Whether tensors are counted, from now on at the latest. `cell`: that made the older ones."""
    global _failure
    if _failure is not None or not torch_module.load():
        return False
    from xleak import _torch

    try:
        if not _torch.installed():
            _torch.install(cell)
            # Whoever came after it sees what it does not.
            _failure = None if _torch.installed() else _REPLACED
    except Exception as error:
        _failure = str(error)
    return _failure is None
