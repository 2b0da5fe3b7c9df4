"""Optimizers of torch, read without asking them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.fields import instances
from xleak.shell.holders.containers import is_tensor


def live_optimizers(live: _native.LiveObjects) -> Iterator[tuple[Any, dict[str, Any]]]:
    """(optimizer, its attributes) of all that are alive."""
    return instances(live, "torch.optim.optimizer", "Optimizer")


def weights_of(fields: dict[str, Any]) -> list[Any]:
    """The weights of an optimizer with these attributes, in the order of its groups."""
    groups = fields.get("param_groups")
    parts = [it.get("params") for it in groups if type(it) is dict] if type(groups) is list else []
    return [it for part in parts if type(part) is list for it in part if is_tensor(it)]
