"""Optimizers of torch, read without asking them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.fields import instances
from xleak.shell.tensor_fields import is_tensor


def live_optimizers(live: _native.LiveObjects) -> Iterator[tuple[Any, dict[str, Any]]]:
    """(optimizer, its attributes) of all that are alive."""
    return instances(live, "torch.optim.optimizer", "Optimizer")


def weights_of(fields: dict[str, Any]) -> list[Any]:
    """The weights of an optimizer with these attributes, in the order of its groups."""
    groups = _native.values_of(fields.get("param_groups"))
    parts = [_native.values_of(_native.value_at(it, "params")) for it in groups]
    return [it for part in parts for it in part if is_tensor(it)]
