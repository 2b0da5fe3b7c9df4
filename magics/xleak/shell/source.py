"""Cells as Python."""

from __future__ import annotations

import ast
import functools
import re
import warnings
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

# Cells that are looked at again and again are parsed once.
_MOST = 256
_FILE = "<xleak>"
# The user was warned when the cell ran.
_QUIET = ("ignore", None, Warning, re.compile(re.escape(_FILE)), 0)

# One of xleak's own: transformers that the user registered are the user's code.
_transform = TransformerManager().transform_cell


@functools.lru_cache(_MOST)
def parsed(source: str) -> ast.Module | None:
    """A cell as Python, its magics as calls; None where it is not. Not to be changed.

    source: as the user wrote it.
    """
    filters: Any = warnings.filters
    # catch_warnings() would have Python forget which of the user's were shown.
    filters.insert(0, _QUIET)
    try:
        tree: ast.Module = ast.parse(_transform(source), _FILE)
        return tree
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    finally:
        filters.remove(_QUIET)
