"""Reads cells for names that a loop concatenates with themselves: `track = cat([track, part])`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from xleak.shell.holders.self_cats import grown_by, is_needed, key_of, uses
from xleak.shell.holders.sign_reader import FORWARD
from xleak.shell.source import parsed, parsed_in_magic

_Loop = ast.For | ast.AsyncFor | ast.While
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Site:
    """One assignment of the kind. target: as it is written; callee: the expression called."""

    target: str
    key: str
    callee: ast.expr
    in_loop: bool
    is_global: bool
    """Whether a variable of the notebook is grown, and no function's own."""


@dataclass
class Scope:
    """A function's code, or that of a cell outside of functions."""

    body: list[ast.stmt]
    sites: list[Site] = field(default_factory=list)
    loops: list[ast.AST] = field(default_factory=list)
    mentions: set[tuple[str, bool]] = field(default_factory=set)
    """Last names that its code has, and whether in a loop."""


def scopes_of(source: str) -> dict[str, Scope]:
    """A cell's functions by their qualified names, and under `` what it does itself; none where it
    is not Python."""
    tree = parsed(source)
    if tree is None:
        return {}
    reader = _Reader(tree.body)
    try:
        reader.visit_all(tree.body)
    except RecursionError:
        return {}
    return reader.scopes


def sites_run(cell: Scope, functions: Mapping[str, Scope]) -> list[Site]:
    """The sites that a cell may have gone through again and again, its own first."""
    reached = list(_reached(cell, functions))
    sites: dict[Site, None] = {}
    for scope, looped in reached:
        for site in scope.sites:
            if site.in_loop or (looped and not _used_in_loops(site.key, reached)):
                sites.setdefault(site)
    return list(sites)


def _reached(cell: Scope, functions: Mapping[str, Scope]) -> Iterator[tuple[Scope, bool]]:
    """Scopes, and whether they run in a loop: what calls a module runs its forward pass."""
    pending, seen = [(cell, False)], set[tuple[str, bool]]()
    while pending:
        scope, looped = pending.pop(0)
        yield scope, looped
        names = {(name, looped or inside) for name, inside in scope.mentions}
        names |= {(name, looped or bool(scope.loops)) for name in FORWARD}
        for place, function in functions.items():
            last = place.rpartition(".")[2]
            pending += [(function, inside) for name, inside in sorted(names - seen) if name == last]
        seen |= names


def _used_in_loops(key: str, reached: Iterable[tuple[Scope, bool]]) -> bool:
    parts = [it for scope, looped in reached for it in (scope.body if looped else scope.loops)]
    return any(uses(it, key) for it in parts)


class _Reader(ast.NodeVisitor):
    def __init__(self, body: list[ast.stmt]) -> None:
        self.scopes = {"": Scope(body)}
        self._scope = self.scopes[""]
        self._loops: list[_Loop] = []
        self._in_comprehension = 0
        self._globals: set[str] | None = None
        self._outer: list[str] = []

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        """Reads one after the other."""
        for node in nodes:
            self.visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._outer.append(node.name)
        self.generic_visit(node)
        self._outer.pop()

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer = self._scope, self._loops, self._globals
        self._outer.append(node.name)
        self._scope = self.scopes[".".join(self._outer)] = Scope(node.body)
        named = [it.names for it in ast.walk(node) if isinstance(it, ast.Global)]
        self._loops, self._globals = [], {name for names in named for name in names}
        self.visit_all(node.body)
        self._scope, self._loops, self._globals = outer
        self._outer.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function

    def _visit_loop(self, node: _Loop) -> None:
        if not self._loops:
            self._scope.loops.append(node)
        if not isinstance(node, ast.While):
            self.visit(node.iter)
        self._loops.append(node)
        self.visit_all([node.test] if isinstance(node, ast.While) else [])
        self.visit_all(node.body)
        self._loops.pop()
        self.visit_all(node.orelse)

    visit_For = visit_AsyncFor = visit_While = _visit_loop

    def generic_visit(self, node: ast.AST) -> None:
        inside = isinstance(node, _COMPREHENSIONS)
        self._scope.loops += [node] if inside and not self._loops else []
        self._in_comprehension += inside
        super().generic_visit(node)
        self._in_comprehension -= inside

    def visit_Name(self, node: ast.Name) -> None:
        self._mention(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._mention(node.attr)
        self.visit(node.value)

    def _mention(self, name: str) -> None:
        self._scope.mentions.add((name, bool(self._loops or self._in_comprehension)))

    def visit_Call(self, node: ast.Call) -> None:
        if tree := parsed_in_magic(node):
            self.visit_all(tree.body)
        else:
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target, call in grown_by(node):
            key = key_of(target) or ""
            if self._is_kept(target) and not is_needed(key, self._repeated()):
                looped, is_global = bool(self._loops), self._is_global(target)
                site = Site(ast.unparse(target), key, call.func, looped, is_global)
                self._scope.sites.append(site)
        self.generic_visit(node)

    def _repeated(self) -> list[ast.AST]:
        """What runs once for each time that the assignment does."""
        if not self._loops:
            return [*self._scope.body]
        loop = self._loops[-1]
        return [loop.test if isinstance(loop, ast.While) else loop.target, *loop.body]

    def _is_kept(self, target: ast.expr) -> bool:
        """Whether it outlives the call, where there is no loop around it."""
        return bool(self._loops) or not isinstance(target, ast.Name) or self._is_global(target)

    def _is_global(self, target: ast.expr) -> bool:
        name = target.id if isinstance(target, ast.Name) else None
        return name is not None and (self._globals is None or name in self._globals)
