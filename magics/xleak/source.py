"""The source engine with its grammar: what the code of cells and files says, before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xleak import _native


@cache
def _give_grammar() -> None:
    import tree_sitter_python

    _native.use_grammar(tree_sitter_python.language())


def lint_cells(texts: Sequence[str]) -> _native.LintedFile:
    """What the cells of a session say, in the order in which they ran, and in its `modules` the files
    of the working folder that they import, as they stand there now."""
    _give_grammar()
    return _native.lint_cells(list(texts))


def lint_files(paths: Sequence[str], threads: int = 1) -> list[_native.LintedFile]:
    """What notebooks and scripts say; a file that cannot be read says why in its `problem`."""
    _give_grammar()
    return _native.lint_files(list(paths), threads)


def lint_text(path: str, data: bytes) -> _native.LintedFile:
    """What a file of this name and content says."""
    _give_grammar()
    return _native.lint_text(path, data)
