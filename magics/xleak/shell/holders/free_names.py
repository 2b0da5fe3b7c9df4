"""The names of the user's that code reads: not the parameters and variables of its functions, nor what it gives a name
itself before it reads that."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.Lambda, ast.ClassDef)
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def free_names(tree: ast.AST) -> set[str]:
    """Of a cell, or of a statement that defines a function or a class."""
    scope = _Scope(set(), set())
    scope.visit(tree)
    return scope.read


def nodes_of_scope(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a cell or a function, but those inside of the functions and classes in it."""
    pending = [*body]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending += ast.iter_child_nodes(node)


class _Scope(ast.NodeVisitor):
    """Follows statements in the order in which they run."""

    def __init__(self, read: set[str], bound: Iterable[str]) -> None:
        self.read = read
        self._bound = {*bound}

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self._bound.add(node.id)
        elif isinstance(node.ctx, ast.Load) and node.id not in self._bound:
            self.read.add(node.id)

    def visit_Call(self, node: ast.Call) -> None:
        # The number of elements is nothing of what is in them.
        is_length = isinstance(node.func, ast.Name) and node.func.id == "len"
        if not (is_length and len(node.args) == 1 and isinstance(node.args[0], ast.Name)):
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._visit_all([node.value, *node.targets])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._visit_all([node.value, node.target] if node.value else [])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id not in self._bound:
            self.read.add(node.target.id)
        self._visit_all([node.value, node.target])

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._visit_all([node.value, node.target])

    def visit_alias(self, node: ast.alias) -> None:
        self._bound.add(_name_of(node))

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self._perhaps([node.target, *node.body])
        self._perhaps(node.orelse)

    def visit_While(self, node: ast.While | ast.If | ast.IfExp) -> None:
        self.visit(node.test)
        for branch in (node.body, node.orelse):
            self._perhaps(branch if isinstance(branch, list) else [branch])

    def visit_Try(self, node: ast.Try | ast.TryStar) -> None:
        for part in (node.body, node.handlers, node.orelse):
            self._perhaps(part)
        self._visit_all(node.finalbody)

    def visit_match_case(self, node: ast.match_case) -> None:
        self._perhaps([node.pattern, *([node.guard] if node.guard else []), *node.body])

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._visit_all([*node.decorator_list, *_defaults(node.args)])
        self._bound.add(node.name)
        self._function(node.args, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_all(_defaults(node.args))
        self._function(node.args, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_all([*node.decorator_list, *node.bases, *node.keywords])
        # A method does not see the names of the class around it.
        self._perhaps([it for it in node.body if not isinstance(it, _FUNCTIONS)])
        for method in node.body:
            if isinstance(method, _FUNCTIONS):
                self._perhaps([method])
        self._bound.add(node.name)

    def visit_ListComp(self, node: _Comprehension) -> None:
        parts: list[ast.AST] = []
        for it in node.generators:
            parts += [it.iter, it.target, *it.ifs]
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._perhaps([*parts, *made])

    visit_AsyncFor = visit_For
    visit_If = visit_IfExp = visit_While
    visit_TryStar = visit_Try
    visit_AsyncFunctionDef = visit_FunctionDef
    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def _function(self, arguments: ast.arguments, body: Sequence[ast.AST]) -> None:
        """A variable is the function's own from its first line on."""
        own = {it.arg for it in ast.walk(arguments) if isinstance(it, ast.arg)}
        shared: set[str] = set()
        for node in nodes_of_scope(body):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                shared.update(node.names)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                own.add(node.id)
            elif isinstance(node, ast.alias):
                own.add(_name_of(node))
            elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                own.add(node.name)
        _Scope(self.read, self._bound | own - shared)._visit_all(body)

    def _perhaps(self, nodes: Iterable[ast.AST]) -> None:
        """What may not run, or in a scope of its own, gives the names after it nothing for certain."""
        _Scope(self.read, self._bound)._visit_all(nodes)

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(it for it in arguments.kw_defaults if it is not None)]


def _name_of(alias: ast.alias) -> str:
    return (alias.asname or alias.name).partition(".")[0]
