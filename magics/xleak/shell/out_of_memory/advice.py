"""What may help the next attempt, each piece only where something measured speaks for it."""

from __future__ import annotations

from dataclasses import dataclass

from xleak import _native
from xleak.originals import os
from xleak.postmortem import HeldByName
from xleak.shell.out_of_memory.errors import HOST
from xleak.shell.out_of_memory.evidence import Evidence

# Below this share of what is allocated another batch size changes little.
_LARGE_SHARE = 0.3
# Where checkpointing is worth its second forward pass: the training checklist's figure.
_CHECKPOINTING_SHARE = 0.6
# As much of what is allocated that the name that has it is worth a sentence.
_LARGE_NAME = 0.1
# Reserved against allocated, as in XL604.
_FRAGMENTED = 1.5
_LEAST_FRAGMENTED_BYTES = 16 << 20
_SETTINGS = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
# Devices whose matrix units compute in half precision under autocast.
_CAN_AUTOCAST = ("cuda", "xpu", "mps")
_TRAINS = frozenset({"backward", "grad"})


@dataclass(frozen=True)
class Situation:
    """Sizes in bytes, None where unknown. all_there_is: of the device, or what the process may have."""

    allocator: str
    asked: int | None
    all_there_is: int | None
    allocated: int | None
    reserved: int | None


def advice(on: Situation, seen: Evidence, largest: HeldByName | None) -> list[str]:
    """Sentences, the surest first; none where nothing is known. largest: the name that holds most."""
    if on.asked is not None and on.all_there_is is not None and on.asked > on.all_there_is:
        # Nothing else helps then.
        return [
            f"No release makes room for this: {_native.human(on.asked)} is more than all of "
            f"{_native.human(on.all_there_is)}. Look at the shapes in the line that failed."
        ]
    told = []
    share = _share(on, seen)
    if share is not None and share >= _LARGE_SHARE:
        told += _of_activations(on, seen, share)
    if is_fragmented(on):
        told.append(_of_fragmentation(on))
    if (
        largest is not None
        and on.allocated
        and largest.retained_bytes >= _LARGE_NAME * on.allocated
    ):
        told.append(
            f"`%xdel {largest.name}` gives {_native.human(largest.retained_bytes)} back, where "
            f"`{largest.name}` is not needed any more."
        )
    return told


def is_fragmented(on: Situation) -> bool:
    """Whether a device's allocator has much that it cannot hand out as one piece."""
    if on.allocator == HOST or on.allocated is None or on.reserved is None:
        return False
    free = on.reserved - on.allocated
    return on.reserved > _FRAGMENTED * on.allocated and free >= _LEAST_FRAGMENTED_BYTES


def _share(on: Situation, seen: Evidence) -> float | None:
    if not seen.activation_bytes or not on.allocated:
        return None
    return min(1.0, seen.activation_bytes / on.allocated)


def _of_activations(on: Situation, seen: Evidence, share: float) -> list[str]:
    saved = f"{_native.human(seen.activation_bytes or 0)}, {share:.0%} of what is allocated,"
    if seen.in_eval_mode and not seen.names & _TRAINS:
        return [
            f"{saved} was saved for a backward pass by a model in evaluation mode, and the code that "
            "failed has no backward pass: run it under `torch.no_grad()` or `torch.inference_mode()`."
        ]
    told = [
        f"{saved} was saved for the backward pass: it shrinks with the batch, so a smaller batch needs "
        "less (several of them before one `step()` give the same gradient)."
    ]
    can_autocast = on.allocator.partition(":")[0] in _CAN_AUTOCAST
    if can_autocast and seen.parameter_types == {"float"} and "autocast" not in seen.names:
        told.append(
            "All parameters there are float32: `torch.autocast` halves most of what is saved."
        )
    if share > _CHECKPOINTING_SHARE and "checkpoint" not in seen.names:
        told.append(
            "`torch.utils.checkpoint` keeps only the inputs of the layers it wraps, for a second forward "
            "pass."
        )
    return told


def _of_fragmentation(on: Situation) -> str:
    assert on.reserved is not None and on.allocated is not None
    sizes = (
        f"{_native.human(on.reserved)} is reserved and {_native.human(on.allocated)} allocated: the "
        "rest is in pieces that may be too small."
    )
    is_cuda = on.allocator.startswith("cuda")
    if not is_cuda or any("expandable_segments" in os.environ.get(it, "") for it in _SETTINGS):
        return sizes
    return (
        f"{sizes} `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, set before torch starts, may help, and "
        "may not."
    )
