"""The size of the batches of a cell, where a name of the user's says it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of, is_instance

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
_SIZE = re.compile(r"batch_?size|bs", re.IGNORECASE)
_LOADER = ("torch.utils.data.dataloader", "DataLoader")


@dataclass(frozen=True)
class BatchPeak:
    """The peak of a profiled cell above its start, and the size of its batches."""

    cell: int
    size: int
    peak_bytes: int


def batch_size(source: str, user_ns: dict[Any, Any]) -> int | None:
    """By a number such as `batch_size` or by a DataLoader that the cell names; None where there is
    none, or several differ."""
    sizes, names = set(), _native.entries_of(user_ns)
    for word in set(_WORD.findall(source)):
        value = names.get(word)
        if is_instance(value, *_LOADER):
            value = fields_of(value).get("batch_size")
        elif not _SIZE.fullmatch(word):
            continue
        if type(value) is int and value > 0:
            sizes.add(value)
    return sizes.pop() if len(sizes) == 1 else None
