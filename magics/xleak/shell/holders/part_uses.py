"""What later cells take of the objects in a container: which of their attributes and operations."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple, TypeGuard

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# They hand on the elements of what they get.
_PASSING = ("list", "tuple", "sorted", "reversed", "iter", "set", "filter")
_CHOOSING = ("min", "max", "next")
_COUNTING = ("len", "type", "id", "isinstance", "bool")
_AS_TEXT = ("str", "repr", "print", "format")
_TEXT_BY = frozenset(("__str__", "__repr__"))
_SHOWN_BY = _TEXT_BY | {"_repr_html_", "_repr_mimebundle_", "_ipython_display_"}
_EMPTYING = ("clear", "remove", "discard")
_ADDING = ("append", "extend", "insert", "appendleft", "extendleft", "update", "add")
# Code and names in texts: of magics, `query("a > @b")`, `eval`.
_RUNS_TEXT = re.compile(r"(?m)^[^'\"\n=]*=?\s*%|\b(?:eval|exec|query|globals|locals)\b")
_DEEPEST = 8


@dataclass(frozen=True)
class Begins:
    """A key of which the source shows how it begins alone: `f"test_{score}"`."""

    text: str


Key = str | int | None


class Step(NamedTuple):
    """The kind of a container, "list", "places" (of a list, by number), "dict", "tuple", "record" (a named tuple, by
    its names) or "instance" (an object of the user's), and the keys, places or attributes at which the objects are;
    None: at any."""

    kind: str
    keys: frozenset[Key]
    owner: str = ""
    """Of an object the name of its class."""


Cell = tuple[str, ast.Module | None]
"""A source and its tree; None where it is no Python."""


@dataclass(frozen=True)
class _Own:
    """What is `level` steps into the container: an object itself, after the last step."""

    level: int


@dataclass(frozen=True)
class _Rows:
    """What yields these, one after another; alone where there is one."""

    parts: tuple[_Value, ...]
    alone: bool = True


@dataclass(frozen=True)
class _Pair:
    parts: tuple[_Value, ...]


_Value = _Own | _Rows | _Pair | None
"""None: what does not lead to the objects."""


@dataclass
class PartUses:
    """operations: attributes that are read, `__len__` and the like; anything: it goes where no source tells; reached:
    it was taken out of the container, for whatever use."""

    operations: set[str] = field(default_factory=set)
    anything: bool = False
    reached: bool = False

    def __or__(self, other: PartUses) -> PartUses:
        return PartUses(
            self.operations | other.operations,
            self.anything or other.anything,
            self.reached or other.reached,
        )


def uses_in(
    cells: Sequence[Cell],
    name: str,
    steps: Sequence[Step],
    code: Mapping[str, ast.AST],
    makes_it: bool = False,
) -> PartUses:
    """What cells do with the objects behind a name. code: functions and classes by their names. makes_it: what the
    cells bind to the name is this container."""
    return functools.reduce(
        PartUses.__or__, uses_by_cell(cells, name, steps, code, makes_it), PartUses()
    )


def uses_by_cell(
    cells: Sequence[Cell],
    name: str,
    steps: Sequence[Step],
    code: Mapping[str, ast.AST],
    makes_it: bool = False,
) -> Iterator[PartUses]:
    """The same of each cell."""
    reader = _Reader(name, steps, code, makes_it)
    for source, tree in cells:
        reader.uses = PartUses()
        if tree is None or _RUNS_TEXT.search(source):
            reader.uses.anything |= re.search(rf"\b{re.escape(name)}\b", source) is not None
        if tree is not None:
            reader.cell(tree)
        yield reader.uses


def code_in(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The functions and classes that a cell makes."""
    for node in ast.walk(tree):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value


class _Reader:
    """Follows the objects through the statements of cells, by names, loops and calls of the user's functions."""

    def __init__(
        self, name: str, steps: Sequence[Step], code: Mapping[str, ast.AST], makes_it: bool
    ) -> None:
        self.uses = PartUses()
        self._made = name if makes_it else None
        self._steps = steps
        self._code = code
        self._globals: dict[str, _Value] = {name: _Own(0)}
        self._keys: dict[int, list[Key | Begins]] = {}
        self._running: list[tuple[int, tuple[_Value, ...]]] = []

    def cell(self, tree: ast.Module) -> None:
        self._keys = _keys_by_use(tree)
        self._block(tree.body, self._globals)
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            self._as_text(self._value(tree.body[-1].value, self._globals), _SHOWN_BY)

    def _block(self, statements: Sequence[ast.stmt], names: dict[str, _Value]) -> _Value:
        """Runs statements; what a `return` among them hands back."""
        returned: _Value = None
        for statement in statements:
            returned = self._statement(statement, names) or returned
        return returned

    def _statement(self, it: ast.stmt, names: dict[str, _Value]) -> _Value:
        if isinstance(it, (*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Delete)):
            return None
        if isinstance(it, ast.Return):
            return self._value(it.value, names)
        if isinstance(it, ast.Assign):
            value = self._value(it.value, names)
            for target in it.targets:
                self._bind(target, value, names)
            return None
        if isinstance(it, (ast.For, ast.AsyncFor)):
            self._bind(it.target, self._each(self._value(it.iter, names)), names)
            first = self._block([*it.body, *it.orelse], names)
            # A name that the loop sets near its end is read at its head.
            return self._block(it.body, names) or first
        if isinstance(it, ast.Expr):
            value = self._value(it.value, names)
            # A function hands nothing on by a bare expression.
            if isinstance(it.value, (ast.Yield, ast.YieldFrom, ast.Await)):
                self._lose(value)
            return None
        if isinstance(it, ast.AugAssign):
            self._lose(self._value(it.value, names))
            changed = self._value(it.target, names)
            if not isinstance(changed, _Own) or self._kind(changed) in ("object", "instance"):
                self._lose(changed)
            return None
        if isinstance(it, (ast.With, ast.AsyncWith)):
            for item in it.items:
                self._lose(self._value(item.context_expr, names))
            return self._block(it.body, names)
        if isinstance(it, ast.Match):
            self._lose(self._value(it.subject, names))
        returned: _Value = None
        for part in ast.iter_child_nodes(it):
            if isinstance(part, ast.expr):
                value = self._value(part, names)
                if isinstance(it, (ast.If, ast.While, ast.Assert)):
                    self._as_truth(value)
                else:
                    self._lose(value)
            elif isinstance(part, ast.stmt):
                returned = self._statement(part, names) or returned
            elif isinstance(part, (ast.ExceptHandler, ast.match_case)):
                returned = self._block(part.body, names) or returned
        return returned

    def _bind(self, target: ast.expr, value: _Value, names: dict[str, _Value]) -> None:
        if isinstance(target, ast.Name):
            is_made = target.id == self._made and names is self._globals
            names[target.id] = _Own(0) if is_made else value
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = self._unpacked(value, len(target.elts))
            for part, its in zip(target.elts, parts, strict=True):
                self._bind(part, its, names)
        else:
            self._lose(value)
            # To set an attribute or an element reads none.
            if isinstance(target, ast.Subscript):
                self._value(target.value, names)

    def _unpacked(self, value: _Value, count: int) -> list[_Value]:
        if isinstance(value, _Pair) and len(value.parts) == count:
            return list(value.parts)
        if isinstance(value, _Own) and self._kind(value) == "tuple":
            return [self._at(value, place) for place in range(count)]
        return [self._each(value)] * count

    def _kind(self, value: _Own) -> str:
        return self._steps[value.level].kind if value.level < len(self._steps) else "object"

    def _at(self, value: _Own, key: Key | Begins) -> _Value:
        """What is at a key or a place; key None: at any."""
        kind, keys, _ = self._steps[value.level]
        is_known = kind != "list" and key is not None and None not in keys
        # A place of a named tuple, whose keys are names.
        is_known &= kind != "record" or not isinstance(key, int)
        if is_known and not _is_one_of(key, keys):
            return None
        self.uses.reached |= value.level + 1 == len(self._steps)
        return _Own(value.level + 1)

    def _each(self, value: _Value) -> _Value:
        """What a loop over it has in its variable."""
        if isinstance(value, _Rows):
            return value.parts[0] if value.alone else _Pair(value.parts)
        if isinstance(value, _Pair):
            return next((part for part in value.parts if part is not None), None)
        if value is None or self._kind(value) == "dict":
            return None
        if self._kind(value) == "object":
            self.uses.operations.add("__iter__")
            return None
        if self._kind(value) == "instance":
            given = self._special(value, "__iter__")
            # An iterator gives itself, and then what its `__next__` returns.
            is_itself = isinstance(given, _Own) and given.level <= value.level
            return self._special(value, "__next__") if is_itself else self._each(given)
        return self._at(value, None)

    # --- objects of the user's that have the container ---------------------------------------

    def _of_instance(self, value: _Own, name: str, given: Sequence[_Value] | None) -> _Value:
        """An attribute of such an object. given: what a method is called with; None where it is not called."""
        step = self._steps[value.level]
        if name in step.keys:
            self._lose(*(given or ()))
            return self._at(value, name)
        method = self._member(step.owner, name)
        if method is None and self._member(step.owner, "__getattr__"):
            self._lose(value, *(given or ()))
            return None
        if method is None:
            # Another attribute; but what a library's class has may read all.
            if given is not None or name.startswith("__"):
                self._lose(*(given or ()), None if self._is_whole(step.owner) else value)
            return None
        if given is None and not _is_property(method):
            # Whoever gets the method may call it.
            self._lose(self._run(method, (value,)))
            return None
        own = () if _is_static(method) else (value,)
        return self._run(method, (*own, *(given or ())))

    def _special(self, value: _Own, *names: str) -> _Value:
        """What the first of these methods that the class has hands back; where it has none, nothing is read by it."""
        owner = self._steps[value.level].owner
        method = next(filter(None, (self._member(owner, name) for name in names)), None)
        if method is not None:
            return self._run(method, (value,))
        self._lose(None if self._is_whole(owner) else value)
        return None

    def _member(self, owner: str, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """A method or property by the sources of a class and those that it derives from."""
        for its in self._classes(owner):
            for part in its.body:
                if isinstance(part, _FUNCTIONS) and part.name == name:
                    return part
        return None

    def _is_whole(self, owner: str) -> bool:
        """Whether the sources have all that the class can do: no decorator and no class from elsewhere adds to it."""
        classes = self._classes(owner)
        known = {its.name for its in classes} | {"object"}
        bases = [base for its in classes for base in its.bases]
        return (
            bool(classes)
            and all(not its.decorator_list and not its.keywords for its in classes)
            and all(isinstance(base, ast.Name) and base.id in known for base in bases)
        )

    def _classes(self, owner: str) -> list[ast.ClassDef]:
        found: list[ast.ClassDef] = []
        pending = [owner]
        while pending:
            its = self._code.get(pending.pop(0))
            if isinstance(its, ast.ClassDef) and its not in found:
                found.append(its)
                pending += [base.id for base in its.bases if isinstance(base, ast.Name)]
        return found

    def _lose(self, *values: _Value) -> None:
        """They go where no source tells what becomes of them."""
        self.uses.anything |= any(value is not None for value in values)

    def _as_truth(self, value: _Value) -> None:
        if isinstance(value, _Own) and self._kind(value) == "object":
            self.uses.operations |= {"__bool__", "__len__"}
        elif isinstance(value, _Own) and self._kind(value) == "instance":
            self._special(value, "__bool__", "__len__")

    def _as_text(self, value: _Value, by: Set[str] = _TEXT_BY) -> None:
        if isinstance(value, _Own) and self._kind(value) == "object":
            self.uses.operations |= by
        elif isinstance(value, _Own) and self._kind(value) == "instance":
            self._special(value, *sorted(by))
        elif isinstance(value, _Own):
            self._as_text(self._at(value, None), by)
        else:
            self._lose(value)

    def _value(self, it: ast.expr | None, names: dict[str, _Value]) -> _Value:
        if isinstance(it, ast.Name):
            return self._of_name(it, names)
        if isinstance(it, ast.Attribute):
            return self._attribute(self._value(it.value, names), it.attr)
        if isinstance(it, ast.Subscript):
            return self._subscript(it, names)
        if isinstance(it, ast.Call):
            return self._call(it, names)
        if isinstance(it, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            return self._comprehension(it, names)
        if isinstance(it, ast.NamedExpr):
            value = self._value(it.value, names)
            self._bind(it.target, value, names)
            return value
        if isinstance(it, ast.IfExp):
            self._as_truth(self._value(it.test, names))
            return self._value(it.body, names) or self._value(it.orelse, names)
        if isinstance(it, ast.Tuple):
            parts = tuple(self._value(part, names) for part in it.elts)
            return _Pair(parts) if any(part is not None for part in parts) else None
        if isinstance(it, ast.FormattedValue):
            self._as_text(self._value(it.value, names))
            return None
        if isinstance(it, ast.Starred):
            return self._each(self._value(it.value, names))
        if isinstance(it, ast.Lambda):
            # Whoever calls it hands over nothing of this.
            self._lose(self._value(it.body, {**names, **dict.fromkeys(_parameters(it))}))
            return None
        is_identity = isinstance(it, ast.Compare) and all(
            isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in it.ops
        )
        is_test = isinstance(it, ast.UnaryOp) and isinstance(it.op, ast.Not)
        for part in ast.iter_child_nodes(it) if it is not None else ():
            if isinstance(part, ast.expr):
                value = self._value(part, names)
                if is_test:
                    self._as_truth(value)
                elif isinstance(value, _Own) and is_identity and self._kind(value) == "instance":
                    self._special(value, "__contains__", "__iter__", "__eq__")
                elif not is_identity:
                    self._lose(value)
        return None

    def _of_name(self, it: ast.Name, names: dict[str, _Value]) -> _Value:
        value = names[it.id] if it.id in names else self._globals.get(it.id)
        if value is None and it.id in self._code:
            # It may be called, by whomever it is handed to.
            self._lose(self._run(self._code[it.id], ()))
        return value

    def _attribute(self, value: _Value, name: str) -> _Value:
        if isinstance(value, _Own) and self._kind(value) == "record":
            return self._at(value, name)
        if isinstance(value, _Own) and self._kind(value) == "instance":
            return self._of_instance(value, name, None)
        if isinstance(value, _Own) and self._kind(value) == "object":
            self.uses.operations.add(name)
        else:
            self._lose(value)
        return None

    def _subscript(self, it: ast.Subscript, names: dict[str, _Value]) -> _Value:
        value = self._value(it.value, names)
        self._lose(self._value(it.slice, names))
        is_slice = isinstance(it.slice, ast.Slice)
        if isinstance(value, _Pair | _Rows):
            return value if is_slice else self._each(value)
        if value is None:
            return None
        if self._kind(value) == "object":
            self.uses.operations.add("__getitem__")
            return None
        if self._kind(value) == "instance":
            return self._special(value, "__getitem__")
        if is_slice:
            return _Rows((self._each(value),))
        keys = self._keys.get(id(it.slice)) or [_key(it.slice)]
        found = [self._at(value, key) for key in keys]
        return next((its for its in found if its is not None), None)

    def _comprehension(
        self,
        it: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        names: dict[str, _Value],
    ) -> _Value:
        inner = dict(names)
        for part in it.generators:
            self._bind(part.target, self._each(self._value(part.iter, inner)), inner)
            for test in part.ifs:
                self._as_truth(self._value(test, inner))
        if isinstance(it, ast.DictComp):
            self._lose(self._value(it.key, inner))
            self._lose(self._value(it.value, inner))
            return None
        value = self._value(it.elt, inner)
        return None if value is None else _Rows((value,))

    def _call(self, it: ast.Call, names: dict[str, _Value]) -> _Value:
        if isinstance(it.func, ast.Attribute):
            owner = self._value(it.func.value, names)
            if owner is not None:
                return self._method(it, owner, it.func.attr, names)
            if it.func.attr == "join" and isinstance(it.func.value, ast.Constant):
                self._lose(*(self._each(self._value(part, names)) for part in it.args))
            else:
                self._lose(*self._arguments(it, names))
            return None
        function = it.func.id if isinstance(it.func, ast.Name) else ""
        if function in self._code and function not in names:
            return self._run(self._code[function], tuple(self._arguments(it, names)))
        called = self._value(it.func, names)
        if isinstance(called, _Own) and self._kind(called) == "object":
            self.uses.operations.add("__call__")
        elif isinstance(called, _Own) and self._kind(called) == "instance":
            return self._of_instance(called, "__call__", self._arguments(it, names))
        key = next((part.value for part in it.keywords if part.arg == "key"), None)
        values = self._arguments(it, names, without=key)
        first = values[0] if values else None
        if function in _PASSING or function in _CHOOSING:
            rows = values[1] if function == "filter" and len(values) > 1 else first
            each = self._each(rows)
            self._apply(key, each, names)
            if each is None:
                return None
            return each if function in _CHOOSING else _Rows((each,))
        if function == "map" and len(it.args) == 2:
            each = self._each(values[1])
            made = self._apply(it.args[0], each, names)
            return None if made is None else _Rows((made,))
        if function == "enumerate":
            return _Rows((None, self._each(first)), alone=False) if first is not None else None
        if function == "zip":
            each_of = tuple(self._each(value) for value in values)
            return _Rows(each_of, alone=False) if any(each_of) else None
        if function in _COUNTING:
            if function == "len" and isinstance(first, _Own):
                if self._kind(first) == "object":
                    self.uses.operations.add("__len__")
                elif self._kind(first) == "instance":
                    self._special(first, "__len__")
            return None
        if function in _AS_TEXT:
            for value in values:
                self._as_text(value)
            return None
        if function in ("any", "all") and values:
            self._as_truth(self._each(first))
            return None
        if function == "getattr" and len(it.args) > 1 and isinstance(it.args[1], ast.Constant):
            return self._attribute(first, str(it.args[1].value))
        self._lose(*values)
        return None

    def _arguments(
        self, it: ast.Call, names: dict[str, _Value], without: ast.expr | None = None
    ) -> list[_Value]:
        parts = [*it.args, *(part.value for part in it.keywords)]
        return [self._value(part, names) for part in parts if part is not without]

    def _apply(self, function: ast.expr | None, value: _Value, names: dict[str, _Value]) -> _Value:
        """What a function makes of a value that is handed to it by `sorted`, `max` or `map`."""
        if isinstance(function, ast.Lambda):
            return self._run(function, (value,), names)
        if isinstance(function, ast.Name) and function.id in self._code:
            return self._run(self._code[function.id], (value,))
        if function is not None:
            own = self._value(function, names)
            # `max(peaks, key=peaks.get)` is asked for the keys.
            self._lose(value or (own if not isinstance(own, _Own) else None))
        return None

    def _method(self, it: ast.Call, owner: _Value, name: str, names: dict[str, _Value]) -> _Value:
        given = self._arguments(it, names)
        if isinstance(owner, _Own) and self._kind(owner) == "instance":
            return self._of_instance(owner, name, given)
        if isinstance(owner, _Own) and self._kind(owner) == "object":
            self.uses.operations.add(name)
            self._lose(*given)
            return None
        self._lose(*given)
        if not isinstance(owner, _Own):
            self._lose(owner)
            return None
        if self._kind(owner) == "dict":
            if name == "keys":
                return None
            if name == "values":
                return _Rows((self._at(owner, None),))
            if name == "items":
                return _Rows((None, self._at(owner, None)), alone=False)
        if name == "sort":
            key = next((part.value for part in it.keywords if part.arg == "key"), None)
            self._apply(key, self._each(owner), names)
            return None
        if name in ("get", "pop", "popleft", "popitem", "setdefault"):
            at = _key(it.args[0]) if it.args and self._kind(owner) == "dict" else None
            return self._at(owner, at)
        if name == "copy":
            return owner
        if name not in (*_EMPTYING, *_ADDING, "count", "index"):
            self._lose(owner)
        return None

    def _run(
        self, code: ast.AST, given: tuple[_Value, ...], around: dict[str, _Value] | None = None
    ) -> _Value:
        """Runs a function of the user's, or all that a class has."""
        known = (id(code), given)
        if known in self._running or len(self._running) >= _DEEPEST:
            if any(value is not None for value in given):
                self.uses.anything |= known not in self._running
            return None
        self._running.append(known)
        returned: _Value = None
        if isinstance(code, ast.ClassDef):
            self._lose(*given)
            for part in code.body:
                if isinstance(part, _FUNCTIONS):
                    self._lose(self._run(part, ()))
        elif isinstance(code, (*_FUNCTIONS, ast.Lambda)):
            parameters = _parameters(code)
            if len(given) > len(parameters):
                self._lose(*given)
            filled = zip(parameters, given, strict=False)
            names = {**(around or {}), **dict.fromkeys(parameters), **dict(filled)}
            body = code.body
            returned = (
                self._value(body, names) if isinstance(body, ast.expr) else self._block(body, names)
            )
        self._running.pop()
        return returned


def _is_property(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(it).endswith("property") for it in method.decorator_list)


def _is_static(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(it, ast.Name) and it.id == "staticmethod" for it in method.decorator_list)


def _key(it: ast.expr) -> Key | Begins:
    first = it.values[0] if isinstance(it, ast.JoinedStr) and it.values else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return Begins(first.value)
    is_from_end = isinstance(it, ast.UnaryOp) and isinstance(it.op, ast.USub)
    number = it.operand if isinstance(it, ast.UnaryOp) and is_from_end else it
    value = number.value if isinstance(number, ast.Constant) else None
    if is_from_end:
        return -value if isinstance(value, int) else None
    return value if isinstance(value, (str, int)) else None


def _keys_by_use(tree: ast.AST) -> dict[int, list[Key | Begins]]:
    """By the id of a use of a loop's variable the keys that it stands for, where the loop goes over these alone:
    `for c in ("r2", "mae"): scores[c]`."""
    found: dict[int, list[Key | Begins]] = {}
    for node in ast.walk(tree):
        loops: list[ast.For | ast.comprehension] = getattr(node, "generators", [])
        for loop in [node] if isinstance(node, ast.For) else loops:
            elements = loop.iter.elts if isinstance(loop.iter, (ast.Tuple, ast.List)) else []
            keys = [_key(it) for it in elements if isinstance(it, ast.Constant)]
            if not keys or len(keys) < len(elements) or not isinstance(loop.target, ast.Name):
                continue
            uses = [it for it in ast.walk(node) if _is_name(it, loop.target.id)]
            if sum(isinstance(it.ctx, ast.Store) for it in uses) == 1:
                found.update((id(it), keys) for it in uses)
    return found


def _is_name(it: ast.AST, name: str) -> TypeGuard[ast.Name]:
    return isinstance(it, ast.Name) and it.id == name


def _is_one_of(key: Key | Begins, keys: frozenset[Key]) -> bool:
    if isinstance(key, Begins):
        return any(isinstance(it, str) and it.startswith(key.text) for it in keys)
    return key in keys


def _parameters(code: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    its = code.args
    named = [*its.posonlyargs, *its.args, *its.kwonlyargs]
    rest = [it for it in (its.vararg, its.kwarg) if it is not None]
    return [it.arg for it in (*named, *rest)]
