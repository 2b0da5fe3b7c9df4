"""What the variables of Keras take, which is TensorFlow's memory and not Python's."""

from __future__ import annotations

import re
from math import prod
from typing import Any

from xleak.shell.fields import instances
from xleak.shell.holders.look import Look

_BITS = re.compile(r"[a-z]+(\d+)")


def variables(look: Look) -> list[Any]:
    """All that are alive: weights, and the slots of optimizers."""
    found = instances(look.live, "keras.src.backend.common.variables", "Variable")
    return [it for it, _ in found]


def bytes_of_variable(fields: dict[str, Any]) -> int:
    """By the attributes of a variable; 0 where it has no shape yet."""
    shape, dtype = fields.get("_shape"), fields.get("_dtype")
    if type(shape) is not tuple or type(dtype) is not str:
        return 0
    if not all(type(extent) is int for extent in shape):
        return 0
    bits = _BITS.match(dtype)
    return prod(shape) * (int(bits.group(1)) // 8 if bits else 1)
