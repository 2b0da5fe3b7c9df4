"""Which names the cells use, and when last."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from xleak.shell.holders.free_names import free_names, nodes_of_scope
from xleak.shell.holders.look import Look
from xleak.shell.holders.signs import since
from xleak.shell.holders.texts import names_in_texts
from xleak.shell.own_cells import is_own
from xleak.shell.source import parsed

_WORD = re.compile(r"[^\W\d]\w*")


class Uses:
    """A cell uses the names that its code reads before it gives them something else, those in texts that may be code
    (`query("x > @raw")`, magics), and the names that the functions and classes read which its code mentions or its
    texts call. What is remembered grows with the names, not with the cells."""

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
            own = nodes_of_scope(tree.body if tree else [])
            bound = {
                node.id
                for node in own
                if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
            }
            self._last_use.update(dict.fromkeys(self.of(source) | bound, index))

    def last(self, name: str) -> int:
        """Index of the last cell that uses a name; that of the last cell where none was seen to."""
        return self._last_use.get(name, self.last_read)

    def in_use(self, look: Look) -> Callable[[str], bool]:
        """Whether the last cell uses a name. A cell of xleak's magics alone is no cell."""
        self.read(look)
        running = self.of(look.running)
        is_own_cell = is_own(look.watcher.shell, look.running)
        goes_on = look.running != look.sources.get(self.last_read) and not is_own_cell

        def is_used(name: str) -> bool:
            return name in running or (self.last(name) == self.last_read and not goes_on)

        return is_used

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


def attributes_read(source: str, name: str) -> set[str] | None:
    """The attributes that the code of a cell takes of a name; None where it uses the name in another way too."""
    tree = parsed(source)
    nodes = list(ast.walk(tree)) if tree else []
    attributes = [it for it in nodes if isinstance(it, ast.Attribute)]
    read = [it for it in attributes if isinstance(it.value, ast.Name) and it.value.id == name]
    uses = sum(isinstance(it, ast.Name) and it.id == name for it in nodes)
    return {it.attr for it in read} if uses == len(read) else None


def first_name(way: str) -> str:
    """The name that an expression starts with; empty where it starts with none."""
    match = _WORD.match(way)
    return match.group() if match else ""


def _names_in(tree: ast.AST) -> tuple[set[str], set[str]]:
    """The names that code uses, and those of them that may be code which runs."""
    read = free_names(tree)
    in_texts, called = names_in_texts(tree)
    return read | in_texts, read | called


def _defined_by(node: ast.stmt) -> Iterator[str]:
    """The names under which a statement leaves code that runs later."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Assign) and _has_lambda(node.value):
        yield from (it.id for it in node.targets if isinstance(it, ast.Name))


def _has_lambda(value: ast.expr) -> bool:
    return any(isinstance(it, ast.Lambda) for it in ast.walk(value))
