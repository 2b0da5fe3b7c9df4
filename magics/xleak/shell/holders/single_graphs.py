"""Single tensors, under an attribute or as a number under a name, that keep the graph of a forward pass which no cell
goes back through."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.graphs import SCALAR_BYTES
from xleak.shell.holders.look import LEAST_BYTES, SINGLE_BYTES, Look, may_be_released
from xleak.shell.holders.part_uses import code_in
from xleak.shell.holders.places import parent_of, replacing
from xleak.shell.holders.uses import first_name
from xleak.shell.source import parsed

_BACKWARD = ("backward", "grad", "vjp", "jacobian", "hessian")


class SingleGraphs(AtVerdict):
    """By the expression of the tensor, or of what has several that share a graph."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each owner of such tensors."""
        owners: dict[str, list[_native.GraphBytes]] = defaultdict(list)
        for graph in look.heap.graphs(LEAST_BYTES, shared=True, together=True):
            owner = parent_of(graph.way)
            if may_be_released(graph.way) and (owner or graph.own <= SCALAR_BYTES):
                owners[owner or graph.way].append(graph)
        for owner, graphs in owners.items():
            ways = [it.way for it in graphs]
            label = ways[0] if len(ways) == 1 else owner
            if not is_asked(label):
                continue
            freed = look.heap.freed_by_detaching([it.tensor for it in graphs], everywhere=True)
            births = look.births_with(first_name(label))
            cause = cause_of(look.watcher.shell, births)
            if freed < SINGLE_BYTES or cause is None:
                continue
            made = max(cell for cell, _, _ in births)
            if made >= look.watcher.last_cell or _goes_back(look, made):
                continue
            release = replacing(look.watcher.shell.user_ns, ways, lambda it: f"{it}.detach()")
            yield _native.Holder(
                "graph of a tensor",
                label,
                freed,
                cause.cell,
                "autograd graph",
                len(ways),
                release or "",
                line=cause.line,
            )


def _goes_back(look: Look, made: int) -> bool:
    """Whether a later cell runs a backward pass, or uses a function that has one."""
    trees = {cell: parsed(source) for cell, source in look.sources.items()}
    code = [it for tree in trees.values() if tree for it in code_in(tree)]
    having = {name for name, node in code if _has(node, _BACKWARD)}
    words = (*_BACKWARD, *having)
    return any(tree is None or _has(tree, words) for cell, tree in trees.items() if cell > made)


def _has(tree: ast.AST, words: tuple[str, ...]) -> bool:
    return any(
        (isinstance(it, ast.Attribute) and it.attr in words)
        or (isinstance(it, ast.Name) and it.id in words)
        for it in ast.walk(tree)
    )
