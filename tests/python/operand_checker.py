"""Finds where the package asks an object of unknown type what only code of the user's may answer.

Unknown are parameters annotated `object` or `Any`, and names that are bound to what a function of the
package returns as such, or to elements of it. Whoever first asks for the type, by identity, knows it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

_UNKNOWN = {"object", "Any"}
# Of one of them: `list[Any]`, `Iterator[object]`. What a dictionary shows first are its keys.
_OF_MANY = {"list", "tuple", "Iterator", "Iterable"}
_ASKING = {"len", "list", "tuple", "set", "sorted", "dict", "iter", "bool", "hash", "isinstance"}
_ASKING |= {"str", "repr"}
# Methods of built-in types, which a method of the package may be called like.
_BUILT_IN = {"values", "items", "keys", "get", "pop"}
_TESTING = {"is_exactly", "is_kind_of", "is_instance", "is_text", "is_tensor", "is_collection"}
_TESTING |= {"is_module", "is_small_scalar", "is_users_function"}
_COMPARING = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Returns:
    """What functions return, by their last name."""

    def __init__(self, sources: list[Path]) -> None:
        trees = [ast.parse(path.read_text()) for path in sources]
        functions = [it for tree in trees for it in ast.walk(tree) if isinstance(it, Function)]
        known: dict[str, list[ast.expr | None]] = {}
        for it in functions:
            known.setdefault(it.name, []).append(it.returns)
        known = {name: them for name, them in known.items() if name not in _BUILT_IN}
        self.one = {name for name, them in known.items() if all(map(_is_unknown, them))}
        self.many = {name for name, them in known.items() if all(map(_is_of_unknown, them))}

    def is_one(self, value: ast.AST) -> bool:
        """Whether an expression is a call that returns something unknown."""
        return isinstance(value, ast.Call) and _name_of(value.func) in self.one

    def is_many(self, value: ast.AST) -> bool:
        """Whether it is a call that returns several of them."""
        return isinstance(value, ast.Call) and _name_of(value.func) in self.many


def findings(path: Path, returns: Returns) -> Iterator[tuple[int, str]]:
    """(line, expression) of each."""
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, Function):
            unknown = _bound(function, returns) - set(_tested(function))
            for node in _own(function):
                for operand in _asked(node):
                    if isinstance(operand, ast.Name) and operand.id in unknown:
                        yield operand.lineno, ast.unparse(node).splitlines()[0]


def _is_unknown(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id in _UNKNOWN


def _is_of_unknown(annotation: ast.expr | None) -> bool:
    if not isinstance(annotation, ast.Subscript) or _name_of(annotation.value) not in _OF_MANY:
        return False
    return isinstance(annotation.slice, ast.Name) and _is_unknown(annotation.slice)


def _bound(function: Function, returns: Returns) -> set[str]:
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found = {it.arg for it in parameters if _is_unknown(it.annotation)}
    many = {it.arg for it in parameters if _is_of_unknown(it.annotation)}
    for node in _own(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found |= {node.targets[0].id} if returns.is_one(node.value) else set()
            many |= {node.targets[0].id} if returns.is_many(node.value) else set()
        if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
            named = isinstance(node.iter, ast.Name) and node.iter.id in many
            found |= {node.target.id} if named or returns.is_many(node.iter) else set()
    return found


def _tested(function: Function) -> Iterator[str]:
    """Names whose type somebody in the function asks for, or that are compared by identity."""
    calls = [it for it in _own(function) if isinstance(it, ast.Call)]
    tests = [it for it in calls if _name_of(it.func) in {*_TESTING, "type"}]
    yield from (it.args[0].id for it in tests if it.args and isinstance(it.args[0], ast.Name))


def _asked(node: ast.AST) -> list[ast.expr]:
    """The operands that a node asks something."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], _COMPARING):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ASKING:
        return node.args[:1]
    if isinstance(node, (ast.For, ast.comprehension)):
        return [node.iter, *(node.ifs if isinstance(node, ast.comprehension) else ())]
    if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
        return [node.test]
    if isinstance(node, ast.BoolOp):
        return node.values
    return [node.operand] if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else []


def _own(function: Function) -> Iterator[ast.AST]:
    """What is in a function, but not in the functions within it."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, Function):
            pending += ast.iter_child_nodes(node)


def _name_of(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
