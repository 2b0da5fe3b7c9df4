"""How often the cells call a function, as far as their source shows."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator

from xleak.shell.holders.functions import name_of
from xleak.shell.source import parsed

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.AsyncFor, ast.While, *_COMPREHENSIONS)


def is_called_again(sources: Collection[str], name: str) -> bool:
    """Whether a function is called more than once for one object. What no cell calls is handed on, to whom calls it
    as often as they like."""
    return _is_called_again(sources, name, frozenset())


def _is_called_again(sources: Collection[str], name: str, above: frozenset[str]) -> bool:
    owners: Counter[str] = Counter()
    for source in sources:
        for call, parents in _calls(source, name):
            owner = call.func.value if isinstance(call.func, ast.Attribute) else None
            owners["" if owner is None else ast.unparse(owner)] += 1
            inside = [at for at, it in enumerate(parents) if isinstance(it, _FUNCTIONS)]
            around = parents[inside[-1] :] if inside else parents
            if any(not _binds(it, _first(owner)) for it in around if isinstance(it, LOOPS)):
                return True
            caller = getattr(parents[inside[-1]], "name", "") if inside else ""
            known = above | {name, caller}
            if caller and caller not in above and _is_called_again(sources, caller, known):
                return True
    return not owners or max(owners.values()) > 1


def _calls(source: str, name: str) -> Iterator[tuple[ast.Call, list[ast.AST]]]:
    tree = parsed(source) if name in source else None
    pending: list[tuple[list[ast.AST], ast.AST]] = [([], tree)] if tree else []
    while pending:
        parents, node = pending.pop()
        if isinstance(node, ast.Call) and name_of(node.func) == name:
            yield node, parents
        pending += [([*parents, node], child) for child in ast.iter_child_nodes(node)]


def _first(node: ast.expr | None) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _binds(loop: ast.AST, name: str) -> bool:
    """Whether each turn of a loop may have another object under a name."""
    return any(
        isinstance(it, ast.Name) and it.id == name and isinstance(it.ctx, ast.Store)
        for it in ast.walk(loop)
    )
