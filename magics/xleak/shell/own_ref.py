"""Weak references of xleak's."""

from __future__ import annotations

import weakref
from typing import TypeVar

T = TypeVar("T")


class OwnRef(weakref.ref[T]):
    """One that no code of the user's has: that it dies is noticed by nobody. Without a subclass all
    who ask for a weak reference to an object get the same."""

    __slots__ = ()
