"""What the source of executed cells says of names."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator

# Cells that are looked at again and again are parsed once.
_MOST = 256


@functools.lru_cache(_MOST)
def parsed(source: str) -> ast.Module | None:
    """A cell as Python; None where it is not, such as one with magics."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None


def statements(sources: Iterable[str]) -> Iterator[ast.AST]:
    """All nodes of all cells that are Python."""
    for source in sources:
        if tree := parsed(source):
            yield from ast.walk(tree)


def led_on(sources: Iterable[str]) -> set[str]:
    """Names that are assigned what was made of them: `state` in `y, state = net(x, state)`."""
    found: set[str] = set()
    for node in statements(sources):
        if isinstance(node, ast.AugAssign):
            found |= names_in(node.target)
        elif isinstance(node, ast.Assign):
            targets = set().union(*(names_in(target) for target in node.targets))
            found |= targets & names_in(node.value)
    return found


def names_in(node: ast.AST) -> set[str]:
    """The bare names of an expression."""
    return {it.id for it in ast.walk(node) if isinstance(it, ast.Name)}
