"""What the lines of a cell do in a step of training, by their source."""

from __future__ import annotations

import ast
from typing import Literal

from xleak.shell.source import parsed

Kind = Literal["next item", "backward", "optimizer step", "read of a result", "transfer"]

_BY_METHOD: dict[str, Kind] = {
    "to": "transfer",
    "cuda": "transfer",
    "cpu": "read of a result",
    "numpy": "read of a result",
    "tolist": "read of a result",
    "item": "read of a result",
    "step": "optimizer step",
    "backward": "backward",
}
# Of a line that does several, the one that takes longest.
_ORDER: tuple[Kind, ...] = (
    "backward",
    "optimizer step",
    "next item",
    "read of a result",
    "transfer",
)


def line_kinds(source: str) -> dict[int, Kind]:
    """By line of a cell what it does, for those that do one of these. source: as the user wrote it.

    A loop's first line is where its next item is waited for.
    """
    tree = parsed(source)
    kinds: dict[int, set[Kind]] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, (ast.For, ast.AsyncFor)):
            # A body on the line of its loop has its time there too.
            end = min(node.iter.end_lineno or node.lineno, node.body[0].lineno - 1)
            lines = range(node.lineno, end + 1)
            found: Kind = "next item"
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _BY_METHOD
        ):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            found = _BY_METHOD[node.func.attr]
        else:
            continue
        for line in lines:
            kinds.setdefault(line, set()).add(found)
    return {line: min(told, key=_ORDER.index) for line, told in kinds.items()}
