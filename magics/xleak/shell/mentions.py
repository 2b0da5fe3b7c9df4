"""What the source of a cell uses of the output cache: `_`, `__`, `_7`, `Out[7]`, `_oh[7]`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from xleak.shell.source import parsed

_CANDIDATE = re.compile(r"(?<![\w.])(?:_{1,3}|_\d+|_oh|Out)(?!\w)")
_CACHES = ("Out", "_oh")
# Python refuses to read a number of thousands of digits, and no entry has such a one.
_LONGEST_NAME = 100
_UNDERSCORES = ("_", "__", "___")
# Magics that take an output entry to release it; to name one there is not to use it.
_RELEASING = (
    "xdel",
    "release_cache",
    "reset",
    "reset_selective",
    "leakcheck",
    "memreport",
    "xleak",
)
# What `%magic`, `%%magic` and `!command` become.
_MAGIC_CALLS = ("run_line_magic", "run_cell_magic", "system", "getoutput")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@dataclass
class Mentions:
    """Entries by number, and by `_` names; `everything`: the source may use any entry."""

    numbers: set[int] = field(default_factory=set)
    underscores: set[str] = field(default_factory=set)
    everything: bool = False

    def add_name(self, name: str) -> None:
        """Takes one bare name."""
        if name in _UNDERSCORES:
            self.underscores.add(name)
        elif name in _CACHES:
            self.everything = True
        elif name[:1] == "_" and name[1:].isdecimal() and len(name) <= _LONGEST_NAME:
            self.numbers.add(int(name[1:]))


def find_mentions(source: str) -> Mentions:
    """The mentions in a cell; none where it is not Python."""
    tree = parsed(source) if _CANDIDATE.search(source) else None
    if tree is None:
        return Mentions()
    reader = _Reader()
    reader.visit(tree)
    return reader.mentions


class _Reader(ast.NodeVisitor):
    """Walks a cell in the order of its evaluation: a name that it binds itself is its own."""

    def __init__(self) -> None:
        self.mentions = Mentions()
        self.bound: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.bound.add(node.id)
        elif isinstance(node.ctx, ast.Load) and node.id not in self.bound:
            self.mentions.add_name(node.id)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        number = _constant_entry(node)
        if number is None:
            self.generic_visit(node)
        elif isinstance(node.ctx, ast.Load):
            self.mentions.numbers.add(number)

    def visit_Call(self, node: ast.Call) -> None:
        for text in magic_arguments(node):
            for match in _CANDIDATE.finditer(text):
                self.mentions.add_name(match.group())
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._visit_all([node.value, *node.targets])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._visit_all([node.value, node.target])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id not in self.bound:
            self.mentions.add_name(node.target.id)
        self._visit_all([node.value, node.target])

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self._visit_all([node.iter, node.target, *node.body, *node.orelse])

    visit_AsyncFor = visit_For

    def visit_alias(self, node: ast.alias) -> None:
        self.bound.add(node.asname or node.name)

    def generic_visit(self, node: ast.AST) -> None:
        if not isinstance(node, (*_SCOPES, *_COMPREHENSIONS)):
            super().generic_visit(node)
            return
        outer = set(self.bound)
        self.bound |= {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
        generators = getattr(node, "generators", [])
        for generator in generators:
            self._visit_all([generator.iter, generator.target, *generator.ifs])
        self._visit_all(child for child in ast.iter_child_nodes(node) if child not in generators)
        self.bound = outer

    def _visit_all(self, nodes: Iterator[ast.AST] | list[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)


def _constant_entry(node: ast.Subscript) -> int | None:
    """The n of `Out[n]` or `_oh[n]`."""
    if not isinstance(node.value, ast.Name) or node.value.id not in _CACHES:
        return None
    index = node.slice
    number = index.value if isinstance(index, ast.Constant) else None
    return number if type(number) is int else None


def magic_arguments(node: ast.Call) -> list[str]:
    """The texts that a call of a magic hands over: `%timeit _.sum()` uses `_`."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _MAGIC_CALLS:
        return []
    values = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    texts = [value for value in values if isinstance(value, str)]
    return [] if texts[:1] and texts[0] in _RELEASING else texts
