"""Cells as Python."""

from __future__ import annotations

import ast
import contextlib
import functools
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

_FILE = "<xleak>"
# What IPython makes of magics.
_MAGICS = ("run_line_magic", "run_cell_magic")
# A text of this length in a cell is data.
_LONGEST_CODE = 10_000
# The user was warned when the cell ran.
_QUIET = ("ignore", None, Warning, re.compile(re.escape(_FILE)), 0)


@functools.cache
def _transform() -> Callable[[str], str]:
    """One of xleak's own: transformers that the user registered are the user's code."""
    # A script that watches its loop may have no IPython.
    from IPython.core.inputtransformer2 import TransformerManager

    transform: Callable[[str], str] = TransformerManager().transform_cell
    return transform


def parsed(source: str) -> ast.Module | None:
    """A cell as Python, its magics as calls; None where it is not.

    source: as the user wrote it. Who asks again keeps what was read from the tree: the tree itself
    takes a hundred times the memory of its source.
    """
    with _quietly():
        try:
            # Most cells are Python as they stand, and IPython's transformers take longer than to parse.
            return _tree(source) or _tree(_transform()(source))
        except SyntaxError:
            return None


def parsed_alone(text: str) -> ast.Module | None:
    """A text as Python, without magics; None where it is not."""
    with _quietly():
        return _tree(text.strip()) if len(text) <= _LONGEST_CODE else None


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    filters: Any = warnings.filters
    # catch_warnings() would have Python forget which of the user's were shown.
    filters.insert(0, _QUIET)
    try:
        yield
    finally:
        filters.remove(_QUIET)


def parsed_in_magic(call: ast.Call) -> ast.Module | None:
    """The code that `%time step()` or `%%time` run, by the call that IPython makes of it; None for any
    other call, and where it is no Python."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else None
    code = call.args[-1] if name in _MAGICS and call.args else None
    text = code.value if isinstance(code, ast.Constant) else None
    return parsed(text) if isinstance(text, str) else None


def _tree(code: str) -> ast.Module | None:
    try:
        tree: ast.Module = ast.parse(code, _FILE)
        return tree
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def last_line(source: str) -> int | None:
    """The line in which the last statement of a cell begins, where its value is the cell's."""
    tree = parsed(source)
    last = tree.body[-1] if tree and tree.body else None
    return last.lineno if isinstance(last, ast.Expr) else None


def lines_left_out(text: str) -> int:
    """Those at the head of a cell that IPython does not hand to Python."""
    head = text[: len(text) - len(text.lstrip())]
    return head.count("\n")
