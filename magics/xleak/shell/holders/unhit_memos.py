"""Dictionaries that a function looks things up in before it makes them, and in which it has found nothing yet."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.heap import user_names
from xleak.shell.holders.call_sites import LOOPS
from xleak.shell.holders.containers import Collection
from xleak.shell.holders.look import LEAST_BYTES, Look
from xleak.shell.holders.unbounded_caches import is_compared_by_identity
from xleak.shell.source import parsed

# Fewer turns of a loop are no growth.
_STEPS = 3
# As often each key came again, but for one part of it.
_ASKED = 2
_PLAIN: tuple[type, ...] = (int, float, str)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def never_hits(look: Look, it: Collection, cells: set[int]) -> bool:
    """Whether nobody can ask a dictionary again for what is in it, since it alone has the objects that are its keys; or
    each iteration of the loop that fills it asks for other keys, and no cell asks again. So it does with keys that are
    large contents, which nobody else has, and with those of which a part is drawn at random.

    cells: those in which entries were made.
    """
    if not _native.is_kind_of(it.object, dict):
        return False
    keys = [_parts(key) for key, _ in _native.items_of(it.object)]
    if all(any(_is_its_alone(look, it, part) for part in parts) for parts in keys[:-1]):
        return True
    functions = _functions(look)
    names = _names(look, it, functions)
    # Of small elements nobody knows when they were made.
    cells = cells or set(_looping(look, names)[-1:])
    if not cells:
        return False
    are_contents = all(any(_is_content(look, it, part) for part in parts) for parts in keys)
    own = _native.entries_of(look.watcher.shell.user_ns)
    for cell, source in look.sources.items():
        users = [] if cell < min(cells) else list(_statements(source, names))
        loops = [statement for statement in users if _turns(statement)]
        if cell not in cells and any(not _binds(statement, names) for statement in users):
            return False
        if cell in cells and len(loops) != 1:
            return False
        if cell in cells and are_contents and not _comes_back(loops[0], functions, names):
            continue
        counters = [own.get(name) for name in _counters(loops[0])] if cell == max(cells) else []
        if cell == max(cells) and not (_moves_on(keys, counters) or _is_drawn(keys)):
            return False
    return True


def _looping(look: Look, names: set[str]) -> list[int]:
    """The cells with a loop that uses one of the names."""
    cells = look.sources.items()
    return [cell for cell, source in cells if any(map(_turns, _statements(source, names)))]


def _is_its_alone(look: Look, it: Collection, part: object) -> bool:
    """Whether nobody else has what they would have to ask with."""
    return is_compared_by_identity(part) and look.heap.keeps(it.object, part)


def _is_content(look: Look, it: Collection, part: object) -> bool:
    """Whether who asks again must have made as much memory again."""
    large = _native.is_exactly(part, (bytes, str)) and look.heap.retained_by(part) >= LEAST_BYTES
    return large and look.heap.keeps(it.object, part)


def _comes_back(statement: ast.stmt, functions: list[_Function], names: set[str]) -> bool:
    """Whether a loop is around or within another one that uses the names."""
    code = [statement, *(node for node in functions if node.name in names)]
    parts = (it for node in code for it in ast.walk(node))
    return sum(isinstance(it, LOOPS) and _uses(it, names) for it in parts) > 1


def _parts(key: object) -> list[object]:
    if type(key) is weakref.ref:
        # An entry whose value leads to its own key is never dropped.
        return [key()]
    return _native.values_of(key) if type(key) is tuple else [key]


def _functions(look: Look) -> list[_Function]:
    return [
        node
        for source in set(look.sources.values())
        for node in ast.walk(parsed(source) or ast.Module([], []))
        if isinstance(node, _Function)
    ]


def _names(look: Look, it: Collection, functions: list[_Function]) -> set[str]:
    """Those that lead to a dictionary, and those of functions that use one of them."""
    names = set(look.heap.names_leading_to(it.object)) & set(user_names(look.watcher))
    before = -1
    while before != len(names):
        before = len(names)
        names |= {node.name for node in functions if node.name not in names and _uses(node, names)}
    return names


def _uses(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(it, ast.Name) and it.id in names for it in ast.walk(node))


def _statements(source: str, names: set[str]) -> Iterator[ast.stmt]:
    """Those of the cell itself that use one of the names."""
    for statement in (parsed(source) or ast.Module([], [])).body:
        if not isinstance(statement, _DEFINITIONS) and _uses(statement, names):
            yield statement


def _turns(statement: ast.stmt) -> bool:
    return any(isinstance(it, LOOPS) for it in ast.walk(statement))


def _binds(statement: ast.stmt, names: set[str]) -> bool:
    """Whether it is there to give one of the names its value."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(it, ast.Name) and it.id in names for it in targets)


def _counters(statement: ast.stmt) -> set[str]:
    """The names that a loop gives a new value in each iteration."""
    if isinstance(statement, ast.While):
        changed = [it.target for it in statement.body if isinstance(it, ast.AugAssign)]
        return {it.id for it in changed if isinstance(it, ast.Name)}
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return {it.id for it in ast.walk(statement.target) if isinstance(it, ast.Name)}
    return set()


def _moves_on(keys: list[list[object]], counters: list[Any]) -> bool:
    """Whether a part of the keys goes with a loop's counter, from one value to the next and never back."""
    width = min((len(parts) for parts in keys), default=0)
    return any(
        _goes_with([parts[place] for parts in keys], counter)
        for place in range(width)
        for counter in counters
    )


def _is_drawn(keys: list[list[object]]) -> bool:
    """Whether a part of the keys is a number with a fraction that never comes twice, while the others do: they were
    asked for again, and each time with another number."""
    return any(
        all(type(parts[place]) is float for parts in keys)
        and len({parts[place] for parts in keys}) == len(keys)
        and _come_again([parts[:place] + parts[place + 1 :] for parts in keys])
        for place in range(min((len(parts) for parts in keys), default=0))
    )


def _come_again(keys: list[list[object]]) -> bool:
    known = all(_native.is_exactly(part, _PLAIN) for parts in keys for part in parts)
    return known and bool(keys[0]) and len({tuple(parts) for parts in keys}) * _ASKED <= len(keys)


def _goes_with(values: list[Any], counter: Any) -> bool:
    if not all(type(it) is type(values[0]) for it in values) or type(values[0]) not in _PLAIN:
        return False
    steps = [it for at, it in enumerate(values) if at == 0 or it != values[at - 1]]
    if len(steps) < _STEPS or len(set(steps)) < len(steps):
        return False
    if type(steps[0]) is str:
        return _native.is_exactly(counter, _PLAIN) and str(counter) in steps[-1]
    in_order = sorted(steps)
    return (
        type(counter) is type(steps[0])
        and counter == steps[-1]
        and steps in (in_order, in_order[::-1])
    )
