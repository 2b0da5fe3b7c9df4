"""Names of the user's in the texts of their code: what is handed to magics, `eval("price")`, `query("x > @price")`,
`sql("select * from price")`. A title or a message is no code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from xleak.shell.mentions import magic_arguments
from xleak.shell.source import parsed_alone

_WORD = re.compile(r"[^\W\d]\w*")
_CALLED = re.compile(r"([^\W\d]\w*)\s*\(")
_IN_QUERY = re.compile(r"@\s*([^\W\d]\w*)|\b(?i:from|join)\s+([^\W\d]\w*)")


def names_in_texts(tree: ast.AST) -> tuple[set[str], set[str]]:
    """All of them, and those that the texts call."""
    names: set[str] = set()
    called: set[str] = set()
    for text, is_code in _texts_in(tree):
        if is_code or parsed_alone(text):
            names.update(_WORD.findall(text))
            called.update(_CALLED.findall(text))
        for match in _IN_QUERY.finditer(text):
            names.add(match[1] or match[2])
    return names, called


def _texts_in(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """(text, whether it is code in any case)."""
    unread = _keys_in(tree) | _statements_in(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from ((text, True) for text in magic_arguments(node))
        elif isinstance(node, ast.JoinedStr):
            unread |= {id(it) for it in node.values}
            # What stands between the braces is read as the code that it is.
            parts = (it.value if isinstance(it, ast.Constant) else "_" for it in node.values)
            yield "".join(str(it) for it in parts), False
        elif isinstance(node, ast.Constant) and type(node.value) is str and id(node) not in unread:
            yield node.value, False


def _statements_in(tree: ast.AST) -> set[int]:
    """The ids of the texts that are statements of their own, as docstrings are."""
    statements = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    return {id(it) for it in statements if isinstance(it, ast.Constant)}


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
