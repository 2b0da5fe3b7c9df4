"""Cells that CPython's parser refuses.

The grammar that reads source is lenient, so it says which cells are doubtful; only those come here.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from xleak import _native

_MARKER = re.compile(r"\s*#\s?%%(?=\s|$)[^\n]*\n?")
_WORD = re.compile(r"[^\W\d]\w*(?=\s|$)")
_CELL_MAGIC = re.compile(r"\s*%%[^\n]*\n?")
# IPython reads tokens, and in CPython 3.12.1 each of them has a copy of its line.
_LONGEST_LINE = 10_000

PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True)
class Refusal:
    """Where the parser stopped in a cell, and why; lines, and characters of a line, from 1."""

    cell: int
    line: int
    column: int
    reason: str
    """Without a full stop: "'(' was never closed"."""

    @property
    def sentence(self) -> str:
        """What is wrong, and what to do."""
        stop = "" if self.reason.endswith("?") else "."
        return (
            f"{PYTHON} does not parse this: {self.reason}{stop} Fix it, or run xleak with the "
            "Python that it is written for."
        )


def refusals(file: _native.LintedFile, data: bytes | None = None) -> list[Refusal]:
    """The cells of a file that CPython's parser refuses, also after IPython's transforms.

    data: what the file holds, where it was not read from its path.
    """
    doubtful = [it for it in file.report.doubtful if it.may_be_refused or it.cut_line]
    if not doubtful or (not file.is_notebook and _is_script(Path(file.path), data)):
        return []
    return [found for it in doubtful if (found := _refusal(it, file.sources[it.cell - 1]))]


def unread(file: _native.LintedFile, refused: list[Refusal]) -> Iterator[str]:
    """A sentence for each cell that CPython accepts and that is nested too deeply to be read."""
    cells = {it.cell for it in refused}
    for it in file.report.doubtful:
        if it.cut_line and it.cell not in cells:
            where = f"cell {it.cell}:" if file.is_notebook else ""
            line = file.first_lines[it.cell - 1] + it.cut_line - 1
            yield (
                f"{file.path}:{where}{line}: the code is nested so deeply here that only its outer "
                "part was read. Split the expression to have all of it read."
            )


def _is_script(path: Path, data: bytes | None) -> bool:
    """Whether a script parses as the one file that Python runs, wherever its cells are cut."""
    with suppress(OSError):
        return _error(path.read_bytes() if data is None else data) is None
    return False


def _refusal(doubtful: _native.DoubtfulCell, source: str) -> Refusal | None:
    if "\0" in source:
        # The versions of Python report it differently, and none says where it is.
        before, _nul, _rest = source.partition("\0")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        return Refusal(doubtful.cell, line, column, "it has a NUL character")
    # Blanked text first: its lines and columns are those of the cell, and it needs no IPython.
    error = _error(doubtful.python)
    if error is None or _ipython_accepts(source):
        return None
    line, column, reason = error
    lines = doubtful.python.split("\n")
    if not 1 <= line <= len(lines):
        line, column = doubtful.cut_line or max(1, min(line, len(lines))), 1
    column = max(1, min(column, len(lines[line - 1]) + 1))
    return Refusal(doubtful.cell, line, column, reason)


def _error(source: str | bytes) -> tuple[int, int, str] | None:
    """Line, column and reason of the first error, or None for what the parser accepts."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<cell>", "exec", flags, dont_inherit=True)
    except SyntaxError as refused:
        return refused.lineno or 0, refused.offset or 1, str(refused.msg).rstrip(".")
    except (RecursionError, MemoryError, OverflowError):
        return 0, 1, "it is nested too deeply"
    except ValueError as refused:
        return 0, 1, str(refused).rstrip(".")
    return None


def _ipython_accepts(source: str) -> bool:
    """Whether IPython makes something of it that the parser takes, or runs it as a magic."""
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        return False
    # The marker of a cell is no part of it, and what stands below `%%time` is judged as a cell.
    body = _CELL_MAGIC.sub("", _MARKER.sub("", source, count=1), count=1)
    if max(map(len, body.splitlines()), default=0) > _LONGEST_LINE:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            transformed = TransformerManager().transform_cell(body)
    except Exception:
        # It raises what its tokenizer raises, which differs between versions.
        return False
    if _error(transformed) is None:
        return True
    # `pip install torch`, alone in its cell, needs no percent sign.
    word = _WORD.match(transformed)
    is_line = len(transformed.splitlines()) == 1
    return is_line and word is not None and word[0] in _automagic()


@cache
def _automagic() -> frozenset[str]:
    """The magics and aliases that every IPython shell has."""
    from IPython.core import alias, magic, magics

    names = {name for name, _command in alias.default_aliases()}
    # IPython 9 imports them when they are asked for: they are in dir(), not in vars().
    for kind in (getattr(magics, name) for name in dir(magics)):
        if isinstance(kind, type) and issubclass(kind, magic.Magics):
            names.update((getattr(kind, "magics", None) or {}).get("line", ()))
    return frozenset(names)
