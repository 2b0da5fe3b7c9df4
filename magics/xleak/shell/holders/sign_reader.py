"""Reads a cell for the signs of containers that are filled, read, bounded."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from xleak.shell.holders.functions import (
    Function,
    defaults_of,
    is_empty_container,
    locals_of,
    name_of,
    parameters_of,
    stores,
)
from xleak.shell.source import parsed, parsed_in_magic

_FILLING = {"append", "appendleft", "extend", "insert", "add", "update", "setdefault"}
_FILLING |= {"push", "put", "store", "record", "remember", "log", "register"}
_TAKING = {"pop", "popleft", "popitem", "discard", "remove", "clear", "cache_clear"}
# Whoever only counts or prints a container does not use what is in it.
_LOOKING = {"len", "print", "sum", "id", "type", "bool", "repr", "str", "display"}
# What they set up is new.
MAKERS = {"__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__"}
FORWARD = {"forward", "call", "training_step", "validation_step", "__call__"}
_SHAPES = {"shape", "size", "numel", "len", "hasattr", "getattr"}


@dataclass(slots=True)
class Signs:
    """Of one or more cells: the last names of containers."""

    filled: dict[str, set[str]] = field(default_factory=dict)
    """With the names of the functions that fill them; `` for code outside of functions."""
    used: set[str] = field(default_factory=set)
    """Whose elements somebody may read."""
    used_by_cells: set[str] = field(default_factory=set)
    """The same, by code outside of functions."""
    taken_from: set[str] = field(default_factory=set)
    emptied: set[str] = field(default_factory=set)
    """All at once, or made again in the course of the program."""
    looked_up: set[str] = field(default_factory=set)
    """By a key that may be missing, as caches are."""
    bound: set[str] = field(default_factory=set)
    """Given a value outside of functions."""
    attributes_used: set[str] = field(default_factory=set)
    """Attributes that code outside of functions may read."""
    attributes_reset: set[str] = field(default_factory=set)
    """Set to None, or deleted, by other code than what makes their object."""
    left_by_methods: dict[str, bool] = field(default_factory=dict)
    """Attributes that methods set without a condition on them or on a shape; whether to a parameter
    of a forward pass."""
    growing_defaults: set[tuple[str, str]] = field(default_factory=set)
    """(function, parameter) with an empty container as its default, which is never emptied."""

    def bounded(self, name: str) -> bool:
        """Whether somebody takes elements out, or the container away."""
        return name in self.taken_from or name in self.emptied

    def filled_by(self, function: str) -> set[str]:
        """The names that a function fills."""
        return {name for name, functions in self.filled.items() if function in functions}

    def add(self, other: Signs) -> None:
        """Takes the signs of another cell too."""
        for name, functions in other.filled.items():
            self.filled.setdefault(name, set()).update(functions)
        self.used |= other.used
        self.used_by_cells |= other.used_by_cells
        self.taken_from |= other.taken_from
        self.emptied |= other.emptied
        self.looked_up |= other.looked_up
        self.bound |= other.bound
        self.attributes_used |= other.attributes_used
        self.attributes_reset |= other.attributes_reset
        for name, parameter in other.left_by_methods.items():
            self.left_by_methods[name] = parameter or self.left_by_methods.get(name, False)
        self.growing_defaults |= other.growing_defaults


def signs_of(source: str) -> Signs:
    """The signs in a cell; none where it is not Python."""
    tree, reader = parsed(source), _Reader()
    try:
        reader.visit(tree or ast.Module([], []))
    except RecursionError:
        return Signs()
    return reader.signs


class _Reader(ast.NodeVisitor):
    def __init__(self) -> None:
        self.signs = Signs()
        self._functions: list[tuple[str, set[str]]] = []
        self._parameters: set[str] = set()
        self._conditions: list[ast.expr] = []
        self._loops = 0
        self._only_looks = False

    # --- where we are ------------------------------------------------------------------------

    def visit_body(self, function: Function) -> None:
        """Reads what a function does."""
        self._visit_all(function.body if isinstance(function.body, list) else [function.body])

    def _visit_function(self, node: Function) -> None:
        name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
        if not isinstance(node, ast.Lambda):
            self.signs.bound |= set() if self._functions else {name}
            self._visit_all(node.decorator_list)
        self._visit_all([*node.args.defaults, *(it for it in node.args.kw_defaults if it)])
        self.signs.growing_defaults |= {(name, it) for it in _growing_defaults(node)}
        outer = self._loops, self._parameters, self._conditions
        self._loops, self._parameters, self._conditions = 0, parameters_of(node), []
        self._functions.append((name, locals_of(node)))
        self.visit_body(node)
        self._functions.pop()
        self._loops, self._parameters, self._conditions = outer

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _visit_function

    def _visit_loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        self._loops += 1
        if isinstance(node, ast.While):
            self._test(node.test)
        self.generic_visit(node)
        self._loops -= 1

    visit_For = visit_AsyncFor = visit_While = _visit_loop

    # --- what is done to containers ----------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> None:
        method = node.func
        if tree := parsed_in_magic(node):
            self.visit(tree)
        elif isinstance(method, ast.Attribute):
            self._called(method.value, method.attr)
            self._visit_all([*node.args, *node.keywords])
        else:
            looks = isinstance(method, ast.Name) and method.id in _LOOKING
            before, self._only_looks = self._only_looks, self._only_looks or looks
            self.generic_visit(node)
            self._only_looks = before

    def _called(self, container: ast.expr, method: str) -> None:
        name = self._container(container)
        if name is None:
            self.visit(container)
        elif method in _FILLING:
            self._fill(name)
            self.signs.looked_up |= {name} if method == "setdefault" else set()
        elif method in _TAKING:
            self.signs.taken_from.add(name)
            self.signs.emptied |= {name} if "clear" in method else set()
        elif isinstance(container, ast.Subscript):
            self.visit(container)
        else:
            self._use(name)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._assign(target, node.value)
        self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node.target, node.value)
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        name = self._container(node.target)
        if name is not None:
            self._fill(name)
        self.visit(node.value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self._assign(part, value)
            return
        name = self._container(target)
        if name is None:
            return
        if isinstance(target, ast.Subscript):
            self._put(name, target.slice)
            return
        if isinstance(target, ast.Attribute):
            self._leave(name, value)
        if self._in_course(name, value):
            self.signs.emptied.add(name)
        if not self._functions:
            self.signs.bound.add(name)

    def _leave(self, attribute: str, value: ast.expr) -> None:
        function = self._functions[-1][0] if self._functions else ""
        if function in MAKERS:
            return
        if isinstance(value, ast.Constant):
            self.signs.attributes_reset |= {attribute} if value.value is None else set()
        elif function and not any(map(_asks_for(attribute), self._conditions)):
            given = isinstance(value, ast.Name) and value.id in self._parameters
            known = self.signs.left_by_methods.get(attribute, False)
            self.signs.left_by_methods[attribute] = known or (given and function in FORWARD)

    def _put(self, name: str, key: ast.expr) -> None:
        wraps = isinstance(key, ast.BinOp) and isinstance(key.op, ast.Mod)
        if isinstance(key, ast.Slice) or wraps:
            self.signs.taken_from.add(name)
        elif not isinstance(key, ast.Constant):
            self._fill(name)

    def _in_course(self, name: str, value: ast.expr) -> bool:
        """Whether an assignment takes a container away that was filled before."""
        function = self._functions[-1][0] if self._functions else ""
        of_itself = isinstance(value, ast.Subscript) and name_of(value) == name
        return of_itself or self._loops > 0 or bool(function and function not in MAKERS)

    def visit_Delete(self, node: ast.Delete) -> None:
        self.signs.taken_from |= {it for it in map(self._container, node.targets) if it}
        whole = [it for it in node.targets if _is_whole_slice(it)]
        self.signs.emptied |= {it for it in map(self._container, whole) if it}
        deleted = {it.attr for it in node.targets if isinstance(it, ast.Attribute)}
        self.signs.attributes_reset |= deleted

    def visit_If(self, node: ast.If) -> None:
        self._test(node.test)
        self._conditions = [*self._conditions, node.test]
        self.generic_visit(node)
        self._conditions = self._conditions[:-1]

    def _test(self, test: ast.expr) -> None:
        """A length that decides is a bound."""
        for call in ast.walk(test):
            if isinstance(call, ast.Call) and name_of(call.func) == "len" and call.args:
                name = self._container(call.args[0])
                self.signs.taken_from |= {name} if name else set()

    def visit_Compare(self, node: ast.Compare) -> None:
        self.visit(node.left)
        for operator, operand in zip(node.ops, node.comparators, strict=True):
            name = self._container(operand)
            if isinstance(operator, (ast.In, ast.NotIn)) and name is not None:
                self.signs.looked_up.add(name)
            else:
                self.visit(operand)

    # --- who reads them ----------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> None:
        self._read(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not (self._functions or self._only_looks) and isinstance(node.ctx, ast.Load):
            self.signs.attributes_used.add(node.attr)
        self._read(node)
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        # The newest alone is looked at, not what piles up behind it; an entry by its name is used.
        newest = ast.unparse(node.slice) == "-1"
        by_name = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        looks = (self._only_looks and not by_name) or newest
        before, self._only_looks = self._only_looks, looks
        self.generic_visit(node)
        self._only_looks = before

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        before, self._only_looks = self._only_looks, True
        self.generic_visit(node)
        self._only_looks = before

    def visit_Expr(self, node: ast.Expr) -> None:
        if name_of(node.value) is None:
            self.visit(node.value)

    def _read(self, node: ast.Name | ast.Attribute) -> None:
        name = self._container(node)
        if name is not None and isinstance(node.ctx, ast.Load):
            self._use(name)

    def _use(self, name: str) -> None:
        if self._only_looks:
            return
        self.signs.used.add(name)
        self.signs.used_by_cells |= set() if self._functions else {name}

    def _fill(self, name: str) -> None:
        function = self._functions[-1][0] if self._functions else ""
        self.signs.filled.setdefault(name, set()).add(function)

    def _container(self, node: ast.AST) -> str | None:
        """The name of what may be a container; a function's own names are none."""
        base = node
        while isinstance(base, ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name) and any(base.id in own for _, own in self._functions):
            return None
        return name_of(base)

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)


def _growing_defaults(function: Function) -> set[str]:
    """The parameters whose default is an empty container that the body neither replaces nor
    empties."""
    reader = _Reader()
    reader.visit_body(function)
    replaced = {it.id for it in ast.walk(function) if isinstance(it, ast.Name) and stores(it)}
    return {
        name
        for name, default in defaults_of(function.args)
        if is_empty_container(default) and not reader.signs.bounded(name) and name not in replaced
    }


def _asks_for(attribute: str) -> Callable[[ast.expr], bool]:
    """Whether a condition is about an attribute, or about shapes, as that of a table is."""
    words = {attribute, *_SHAPES}

    def asks(condition: ast.expr) -> bool:
        texts = {it.value for it in ast.walk(condition) if isinstance(it, ast.Constant)}
        return bool(words & {name_of(it) for it in ast.walk(condition)}) or attribute in texts

    return asks


def _is_whole_slice(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
