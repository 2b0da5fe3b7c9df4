"""Lists of outputs without gradients that the session joins only to reduce them to few numbers."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from xleak import _native
from xleak.shell.holders.containers import Collection, collections_of
from xleak.shell.holders.functions import locals_of, name_of
from xleak.shell.holders.look import Look
from xleak.shell.source import parsed
from xleak.shell.tensor_fields import is_tensor, tensor_field

_MUCH_BYTES = 256 << 20
# One part in so many of what the device has.
_PART_OF_DEVICE = 20
# Fewer are no pass over a data set.
_SEVERAL = 4
_NO_GRADIENTS = {"no_grad", "inference_mode"}
_JOINS = {"cat", "stack", "concat", "concatenate", "vstack", "hstack"}
_REDUCTIONS = {"argmax", "argmin", "mean", "sum", "max", "min", "topk", "eq", "std", "var", "norm"}
_REDUCTIONS |= {"any", "all"}
# What was moved on purpose, or is small.
_MOVES = {"cpu", "numpy", "tolist", "item", *_REDUCTIONS}

_FILLED, _REDUCED, _JOINED, _USED = "filled", "reduced", "joined", "used"


@dataclass
class _Code:
    """What cells do with names."""

    gathers: set[str] = field(default_factory=set)
    """Lists that are filled without gradients, and functions that return such."""
    made_by: dict[str, set[str]] = field(default_factory=dict)
    roles: dict[str, set[str]] = field(default_factory=dict)
    joined_to: dict[str, set[str]] = field(default_factory=dict)

    def add(self, other: _Code) -> None:
        self.gathers |= other.gathers
        for own, others in (
            (self.made_by, other.made_by),
            (self.roles, other.roles),
            (self.joined_to, other.joined_to),
        ):
            for name, values in others.items():
                own.setdefault(name, set()).update(values)

    def wants_a_number(self, name: str) -> bool:
        """Whether a list of outputs is joined, and the joined reduced, and nothing else."""
        if not {name, *self.made_by.get(name, ())} & self.gathers:
            return False
        roles = self.roles.get(name, set())
        wholes = self.joined_to.get(name, set())
        reduced = all(self.roles.get(it) == {_REDUCED} for it in wholes)
        return _JOINED in roles and roles <= {_FILLED, _JOINED} and reduced


class GatheredOutputs:
    """Told once they outlived the cell that filled the list: until then it may go at its end."""

    def __init__(self) -> None:
        self._code: dict[int, _Code] = {}
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each list."""
        found = list(_lists(look)) if "torch" in sys.modules else []
        self._since = {it.way: self._since.get(it.way, look.cell) for it, _ in found}
        code = self._read(look) if found else _Code()
        for it, device in found:
            if self._since[it.way] == look.cell:
                look.search_again()
                continue
            if not code.wants_a_number(it.way):
                continue
            look.explained.add(it.way)
            kind = "outputs" if device == "cpu" else "outputs on a device"
            alone = look.heap.retained_bytes(it.way) >= it.kept
            release = f"del {it.way}" if alone else ""
            if release and device == "cuda":
                release += '; __import__("torch").cuda.empty_cache()'
            since = self._since[it.way]
            yield _native.Holder(kind, it.way, it.kept, since, device, it.count, release)

    def _read(self, look: Look) -> _Code:
        together = _Code()
        for index, source in look.sources.items():
            if index not in self._code:
                self._code[index] = _code_of(source)
            together.add(self._code[index])
        return together


def _lists(look: Look) -> Iterator[tuple[Collection, str]]:
    """(list, type of its device) of those that alone keep much of a device, under a name."""
    least = min(_MUCH_BYTES, _native.ram_bytes() // _PART_OF_DEVICE)
    for it in collections_of(look, least=least):
        if type(it.object) is not list or not it.way.isidentifier() or it.way in look.explained:
            continue
        elements = it.elements()
        if len(elements) < _SEVERAL or not all(is_tensor(element) for element in elements):
            continue
        if not any(tensor_field(element, "requires_grad") for element in elements):
            yield it, tensor_field(elements[0], "device").type


def _code_of(source: str) -> _Code:
    tree, reader = parsed(source), _Reader()
    try:
        reader.visit(tree or ast.Module([], []))
    except RecursionError:
        return _Code()
    return reader.code


class _Reader(ast.NodeVisitor):
    def __init__(self) -> None:
        self.code = _Code()
        self._above: list[ast.AST] = []
        self._function = ""
        self._locals: set[str] = set()
        self._without_gradients = False

    def visit(self, node: ast.AST) -> None:
        """Keeps what is above a node in sight."""
        self._above.append(node)
        super().visit(node)
        self._above.pop()

    def visit_With(self, node: ast.With) -> None:
        """Its body may run without gradients."""
        outer = self._without_gradients
        self._without_gradients |= any(_switches_off(it.context_expr) for it in node.items)
        self.generic_visit(node)
        self._without_gradients = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """The same by a decorator; of what is in it, what it returns is known by its name."""
        outer = self._without_gradients, self._function, self._locals
        self._without_gradients |= any(_switches_off(it) for it in node.decorator_list)
        self._function = node.name
        self._locals = self._locals | locals_of(node)
        self.generic_visit(node)
        self._without_gradients, self._function, self._locals = outer

    def visit_ListComp(self, node: ast.ListComp) -> None:
        """A list of whole outputs."""
        above = self._above[-2]
        if isinstance(above, ast.Assign):
            self._gather(above.targets[0], node.elt)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """`outputs = predict(model, batches)`"""
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Name) and isinstance(value, ast.Call):
            self.code.made_by.setdefault(target.id, set()).add(name_of(value.func) or "")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """`outputs.append(output)`"""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "append" and node.args:
            self._gather(node.func.value, node.args[0])
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """What is done with a list, or with what was joined of one."""
        if role := self._role(node.id):
            self.code.roles.setdefault(node.id, set()).add(role)

    def _gather(self, target: ast.expr, stored: ast.expr) -> None:
        attributes = {it.attr for it in ast.walk(stored) if isinstance(it, ast.Attribute)}
        if self._without_gradients and isinstance(target, ast.Name) and not attributes & _MOVES:
            self.code.gathers.add(self._function or target.id)

    def _role(self, name: str) -> str:
        node, above = self._above[-1], self._above[-2]
        if name in self._locals or not isinstance(getattr(node, "ctx", None), ast.Load):
            return ""
        if isinstance(above, ast.Attribute) and above.attr in ("append", "extend"):
            return _FILLED
        if isinstance(above, ast.Call) and name_of(above.func) == "len":
            return ""
        if isinstance(above, ast.Call) and name_of(above.func) in _JOINS:
            return self._role_of_joined(name)
        return _REDUCED if _is_reduced(above) else _USED

    def _role_of_joined(self, name: str) -> str:
        above = self._above[-3]
        if isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name):
            self.code.joined_to.setdefault(name, set()).add(above.targets[0].id)
            return _JOINED
        return _JOINED if _is_reduced(above) else _USED


def _is_reduced(above: ast.AST) -> bool:
    """`joined.argmax(-1)`, `joined == gold`, `torch.mean(joined)`"""
    if isinstance(above, ast.Attribute):
        return above.attr in _REDUCTIONS
    is_call = isinstance(above, ast.Call) and name_of(above.func) in _REDUCTIONS
    return is_call or isinstance(above, ast.Compare)


def _switches_off(context: ast.expr) -> bool:
    called = context.func if isinstance(context, ast.Call) else context
    return name_of(called) in _NO_GRADIENTS
