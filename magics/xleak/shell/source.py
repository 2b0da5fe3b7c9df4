"""Cells as Python."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

_FILE = "<xleak>"
# The user was warned when the cell ran.
_QUIET = ("ignore", None, Warning, re.compile(re.escape(_FILE)), 0)

# One of xleak's own: transformers that the user registered are the user's code.
_transform = TransformerManager().transform_cell


def parsed(source: str) -> ast.Module | None:
    """A cell as Python, its magics as calls; None where it is not.

    source: as the user wrote it. Who asks again keeps what was read from the tree: the tree itself
    takes a hundred times the memory of its source.
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
