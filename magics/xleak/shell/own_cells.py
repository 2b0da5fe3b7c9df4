"""Which cells are xleak's own: they have its line magics and nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell.fields import module_of_callable
from xleak.shell.source import parsed

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_OURS = "xleak."
# IPython's own, which are ours where they load or unload this package.
_EXTENSION_MAGICS = ("load_ext", "reload_ext", "unload_ext")
_PACKAGE = "xleak"
_FIRST_LINE = re.compile(r"\s*(?:#[^\n]*\s*)*([^\n]*)")


def is_own(shell: InteractiveShell, source: str) -> bool:
    """Whether every statement of a cell is a line magic of xleak's. source: as the user wrote it."""
    first = _first_line(source)
    if first.startswith("%%"):
        return False
    if not first.startswith("%"):
        return _is_automagic(shell, source, first)
    tree = parsed(source)
    return tree is not None and all(_is_our_magic(shell, it) for it in tree.body)


def _first_line(source: str) -> str:
    """The first that is neither blank nor a comment. An ordinary cell is not read further."""
    found = _FIRST_LINE.match(source)
    return found[1].strip() if found else ""


def _is_our_magic(shell: InteractiveShell, statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    words = [it.value for it in call.args if isinstance(it, ast.Constant)]
    if call.func.attr != "run_line_magic" or len(words) != 2:
        return False
    name, arguments = words
    if name in _EXTENSION_MAGICS:
        return isinstance(arguments, str) and arguments.strip() == _PACKAGE
    return _is_ours(shell, name)


def _is_automagic(shell: InteractiveShell, source: str, first: str) -> bool:
    """Whether IPython takes the only line of a cell for a magic of ours without its `%`."""
    word, _, rest = first.partition(" ")
    is_assignment = rest.lstrip()[:1] == "="
    if not word.isidentifier() or is_assignment or source.strip() != first:
        return False
    if not _is_ours(shell, word):
        return False
    return bool(shell.automagic) and word not in shell.user_ns and word not in shell.user_ns_hidden


def _is_ours(shell: InteractiveShell, name: object) -> bool:
    table: Mapping[Any, Any] = shell.magics_manager.magics["line"]
    magic = _native.value_at(table, name) if type(name) is str else None
    # The user's own magic of this name can be any callable: none of its attributes is read.
    return module_of_callable(magic).startswith(_OURS)
