"""What stands behind a piece of advice: what autograd has saved, and what the failed frames show."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType, FrameType

from xleak import _native
from xleak.shell import torch_module
from xleak.shell.fields import fields_of, is_instance, locals_of
from xleak.shell.out_of_memory.errors import HOST

# Of the time before a reply; graphs that take longer are not told.
_GRAPHS_MS = 500.0


@dataclass(frozen=True)
class Evidence:
    """Sizes in bytes, None where unknown."""

    activation_bytes: int | None = None
    """What autograd graphs alone have saved on the device: no parameter, and no data as it came."""
    parameter_types: frozenset[str] = frozenset()
    """Of the parameters on the device, as C++ names them."""
    in_eval_mode: bool = False
    """Whether a model was running, and all that were had been switched to evaluation."""
    names: frozenset[str] = frozenset()
    """Names that the code of the failed frames uses."""


def evidence(device: str, frames: Iterable[FrameType]) -> Evidence:
    """What can be seen right after the failure. device: as in a Refusal."""
    own = [frame for frame in frames if not _is_of_torch(frame)]
    names = frozenset(name for frame in own for name in _names(frame.f_code))
    if not torch_module.load():
        return Evidence(names=names)
    from xleak import _torch

    on = "cpu" if device == HOST else device
    rows = [row for row in _torch.census() if row.storage.device == on]
    leaves = {row.storage.key for row in rows if row.grad_fn is None}
    types = frozenset(row.dtype for row in rows if row.requires_grad and row.grad_fn is None)
    kept = _torch.kept_by_graphs(_GRAPHS_MS)
    saved = {it.storage.key: it.storage for it in kept.rows}
    sizes = [it.bytes for it in saved.values() if it.device == on and it.key not in leaves]
    modes = [mode for frame in frames if (mode := _mode(frame)) is not None]
    return Evidence(
        sum(sizes) if kept.complete else None, types, bool(modes) and not any(modes), names
    )


def _mode(frame: FrameType) -> bool | None:
    """Whether the model whose method a frame runs is in training mode; None where there is none."""
    code = frame.f_code
    if "torch" not in sys.modules or code.co_argcount == 0 or code.co_name == "<module>":
        return None
    model = locals_of(frame).get(code.co_varnames[0])
    if not is_instance(model, "torch.nn.modules.module", "Module"):
        return None
    mode = fields_of(model).get("training")
    return mode if type(mode) is bool else None


def _names(code: CodeType) -> set[str]:
    inner = (it for it in code.co_consts if type(it) is CodeType)
    return set(code.co_names).union(*(_names(it) for it in inner))


def _is_of_torch(frame: FrameType) -> bool:
    name = _native.value_at(frame.f_globals, "__name__")
    return type(name) is str and name.partition(".")[0] == "torch"
