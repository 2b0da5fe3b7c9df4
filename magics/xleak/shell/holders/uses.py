"""Which names the cells use, and when last."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from xleak.shell.holders.look import Look
from xleak.shell.holders.signs import since
from xleak.shell.source import parsed

_WORD = re.compile(r"[^\W\d]\w*")
_CALLED = re.compile(r"([^\W\d]\w*)\s*\(")


class Uses:
    """A cell uses the names in its code, the words in its texts (`query("x > @raw")`, magics), and the names in the
    functions and classes that its code mentions or its texts call. What is remembered grows with the names, not with
    the cells."""

    def __init__(self) -> None:
        self.last_read = 0
        """Index of the last cell that was read."""
        self._last_use: dict[str, int] = {}
        self._inside: dict[str, tuple[set[str], set[str]]] = {}

    def read(self, look: Look) -> None:
        """Reads the cells that are new."""
        for index, source in since(self.last_read, look.sources).items():
            self.last_read = index
            tree = parsed(source)
            for node in tree.body if tree else []:
                for name in _defined_by(node):
                    self._inside[name] = _names_in(node)
            self._last_use.update(dict.fromkeys(self.of(source), index))

    def last(self, name: str) -> int:
        """Index of the last cell that uses a name; that of the last cell where none was seen to."""
        return self._last_use.get(name, self.last_read)

    def of(self, source: str) -> set[str]:
        """The names that a cell uses."""
        tree = parsed(source)
        words = set(_WORD.findall(source))
        found, pending = _names_in(tree) if tree else (words, set(words))
        followed: set[str] = set()
        while pending:
            word = pending.pop()
            if word not in followed:
                followed.add(word)
                names, code = self._inside.get(word, (set(), set()))
                found |= names
                pending |= code
        return found


def reads_other_attributes(source: str, name: str, attribute: str) -> bool:
    """Whether the code of a cell takes nothing of a name but other attributes than that. A method may use all."""
    tree = parsed(source)
    nodes = list(ast.walk(tree)) if tree else []
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    attributes = [it for it in nodes if isinstance(it, ast.Attribute) and id(it) not in called]
    read = [it for it in attributes if isinstance(it.value, ast.Name) and it.value.id == name]
    uses = sum(isinstance(it, ast.Name) and it.id == name for it in nodes)
    return 0 < uses == len(read) and all(it.attr != attribute for it in read)


def first_name(way: str) -> str:
    """The name that an expression starts with; empty where it starts with none."""
    match = _WORD.match(way)
    return match.group() if match else ""


def _names_in(tree: ast.AST) -> tuple[set[str], set[str]]:
    """The names and words in it, and those of them that may be code which runs."""
    names: set[str] = set()
    code: set[str] = set()
    keys = _keys_in(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            code.add(node.id)
        elif isinstance(node, ast.Constant) and type(node.value) is str and id(node) not in keys:
            names.update(_WORD.findall(node.value))
            code.update(_CALLED.findall(node.value))
    return names | code, code


def _keys_in(tree: ast.AST) -> set[int]:
    """The ids of the texts that stand for a column or a key: `table["price"]` is no use of `price`, though
    `globals()["price"]` is."""
    keys: list[ast.AST | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and not isinstance(node.value, ast.Call):
            keys.append(node.slice)
        elif isinstance(node, ast.Dict):
            keys += node.keys
    found: set[int] = set()
    for key in keys:
        items = key.elts if isinstance(key, (ast.Tuple, ast.List)) else [key]
        found |= {id(it) for it in items if isinstance(it, ast.Constant)}
    return found


def _defined_by(node: ast.stmt) -> Iterator[str]:
    """The names under which a statement leaves code that runs later."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Assign) and _has_lambda(node.value):
        yield from (it.id for it in node.targets if isinstance(it, ast.Name))


def _has_lambda(value: ast.expr) -> bool:
    return any(isinstance(it, ast.Lambda) for it in ast.walk(value))
