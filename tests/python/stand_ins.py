"""Modules that stand in for libraries."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def module_of(**names: Any) -> ModuleType:
    """A module with these names in it."""
    made = ModuleType("stand_in")
    vars(made).update(names)
    return made
