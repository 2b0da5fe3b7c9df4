"""What a case must look like, beyond what its reader needs: style, imports, words that give it away."""

import ast
import re
import sys
from collections.abc import Iterator

from cases import BadCase, Case

# Without imports. Fifteen are asked for; a line that black breaks in three is no reason to refuse.
SHORT_LINES = (4, 20)
LONG_CELLS = (9, 12)
# Many small objects are a leak before they are large.
_MEGABYTES = {"grows": (2, 160)}
# Comes with every IPython, and everything does.
_ALWAYS_THERE = {"IPython"}
_HINT = re.compile(r"leak(?!y_?relu)|\bkept\b|\bbad\b", re.IGNORECASE)


def check(case: Case) -> None:
    """Raises BadCase with the first thing that is wrong."""
    _check_style(case)
    _check_imports(case, {*case.needs})
    _check_words(case)
    _check_place(case)


def code_lines(source: str) -> int:
    """Lines that are neither empty, nor a comment or an import alone."""
    stripped = (line.strip() for line in source.splitlines())
    return sum(bool(line) and not line.startswith(("#", "import ", "from ")) for line in stripped)


def tree(source: str) -> ast.Module:
    """The cell as Python reads it, its magics turned into calls, a top-level await allowed."""
    from IPython.core.inputtransformer2 import TransformerManager

    plain = TransformerManager().transform_cell(source)
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    parsed = compile(plain, "<cell>", "exec", flags)
    assert isinstance(parsed, ast.Module)
    return parsed


def _check_style(case: Case) -> None:
    if case.style == "long":
        least, most = LONG_CELLS
        if not least <= len(case.cells) <= most:
            raise BadCase(
                f"is long, and has {len(case.cells)} code cells; {least} to {most} are asked"
            )
        return
    least, most = SHORT_LINES
    lines = sum(code_lines(cell.source) for cell in case.cells)
    if not least <= lines <= most:
        raise BadCase(f"is short, and has {lines} lines of code; {least} to {most} are asked")


def _check_imports(case: Case, needs: set[str]) -> None:
    imported: set[str] = set()
    for cell in case.cells:
        try:
            imported |= {*_imports(tree(cell.source))}
        except SyntaxError as error:
            raise BadCase(f"has a cell {cell.number} that is no Python: {error}") from None
    foreign = imported - {*sys.stdlib_module_names} - _ALWAYS_THERE
    if missing := foreign - needs:
        raise BadCase(
            f"imports {', '.join(sorted(missing))}, which `needs` does not name; "
            "it holds the words that are imported, sklearn and not scikit-learn"
        )
    if idle := needs - foreign - _ALWAYS_THERE:
        raise BadCase(f"names {', '.join(sorted(idle))} in `needs`, and never imports it")


def _imports(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _check_words(case: Case) -> None:
    for kind, source in case.parts:
        if found := _HINT.search(source):
            raise BadCase(f"says {found[0]!r} in a {kind} cell, which gives it away")


def _check_place(case: Case) -> None:
    """A file in the tree stands where its metadata say."""
    kind = case.path.resolve().parent.name
    if kind in ("leaking", "clean") and (kind == "leaking") != (case.leak is not None):
        has = "has" if case.leak else "lacks"
        raise BadCase(f"lies in {kind}/, and {has} what only leaking cases declare")
    if not case.leak:
        return
    least, most = _MEGABYTES.get(case.question, (3.9, 160))
    if not least <= case.leak.bytes / 1e6 <= most:
        raise BadCase(f"declares {case.leak.bytes / 1e6:.1f} MB; {least} to {most} are asked")
