"""Where a program's side calls xleak's: no tracer of the program's sees what runs then, and a recursion limit of
its own making ends it without a word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from xleak import _native

Function = TypeVar("Function", bound=Callable[..., Any])


def entry(otherwise: object = None) -> Callable[[Function], Function]:
    """A decorator. otherwise: what is returned where the recursion limit leaves no room."""
    return lambda function: _native.out_of_sight(function, otherwise)
