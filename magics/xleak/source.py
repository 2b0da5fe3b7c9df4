"""The source engine with its grammar: what the code of cells and files says, before it runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any

from xleak import _native


@cache
def _give_grammar() -> None:
    """Loads the extension module of the grammar alone, and not into `sys.modules`: what a cell sees is
    the same whether its source was read."""
    package = PathFinder.find_spec("tree_sitter_python")
    places = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec("tree_sitter_python._binding", places) if places else None
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError("xleak reads source with tree-sitter-python, which is not there.")
    before = sys.modules.get(spec.name)
    module: Any = module_from_spec(spec)
    spec.loader.exec_module(module)
    if before is None:
        sys.modules.pop(spec.name, None)
    _native.use_grammar(module.language())


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
