"""Which libraries a holder is about, by the names of their modules."""

from __future__ import annotations

import sys
from collections.abc import Set

ON_CUDA = frozenset({"torch", "tensorflow", "jax", "cupy"})
KERAS = frozenset({"keras", "tensorflow"})
PARALLEL_SEARCHES = frozenset({"joblib", "loky"})


def any_imported(names: Set[str]) -> bool:
    """Whether one of these modules is imported."""
    return not sys.modules.keys().isdisjoint(names)
