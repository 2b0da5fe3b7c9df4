"""Sessions of TensorFlow 1 that nobody closed and nobody uses any more."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.fields import fields_of, instances
from xleak.shell.holders.look import Look, is_the_users, may_be_released
from xleak.shell.own_ref import OwnRef
from xleak.shell.source import parsed

_MODULE = "tensorflow.python.client.session"
# As many cells in a row without it are no pause.
_IDLE_CELLS = 3
# Runs a session without naming it: the default one does.
_RUNS = re.compile(r"\.(?:eval|run)\s*\(")
_CLOSE = (
    '[it.close() for it in __import__("gc").get_objects() if id(it) in {%s} '
    'and type(it) is __import__("tensorflow").compat.v1.InteractiveSession];'
)


@dataclass(frozen=True)
class _Open:
    """A session that is open, since which cell, and the last cell that had to do with it."""

    object: OwnRef[Any]
    cell: int
    used: int
    way: str
    operations: int
    """Of its graph: what builds goes on."""


class OpenSessions:
    """Told by their names after some cells without them, and at once where no name is left."""

    def __init__(self) -> None:
        self._made = 0
        self._made_in = 0
        self._open: dict[int, _Open] = {}
        self._told: set[int] = set()

    def after_cell(self, cell: int, source: str) -> bool:
        """Whether sessions were made, or are idle now, or what was told is closed."""
        made = _count_made()
        changed = made != self._made
        if changed:
            self._made, self._made_in = made, cell
        for key, it in list(self._open.items()):
            session = it.object()
            fields = fields_of(session) if session is not None else {}
            if not _is_open(fields):
                del self._open[key]
                changed = changed or key in self._told
                continue
            operations = _operations(fields)
            if operations != it.operations or _mentions(source, it.way):
                it = self._open[key] = replace(it, used=cell, operations=operations)
                changed = changed or key in self._told
            changed = changed or (key not in self._told and cell - it.used >= _IDLE_CELLS)
        return changed

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each name, one for all interactive sessions that have none."""
        self._told.clear()
        lost: list[tuple[int, int]] = []
        for session, fields in instances(look.live, _MODULE, "BaseSession"):
            if not _is_open(fields):
                continue
            it = self._noted(session, fields, look)
            interactive = _native.type_name(session) == "InteractiveSession"
            if interactive and not is_the_users(it.way):
                lost.append((id(session), it.cell))
            elif may_be_released(it.way) and _is_idle(it, look):
                self._told.add(id(session))
                kind = _native.type_name(session)
                release = f"{it.way}.close();"
                yield _native.Holder("session", it.way, 0, it.cell, kind, 1, release)
        if lost:
            self._told.update(key for key, _ in lost)
            since = min(cell for _, cell in lost)
            label = f"interactive sessions, from {name_of_run(since)} on"
            release = _CLOSE % ", ".join(str(key) for key, _ in lost)
            yield _native.Holder("lost sessions", label, 0, since, "", len(lost), release)

    def _noted(self, session: Any, fields: dict[str, Any], look: Look) -> _Open:
        way = look.heap.way_to(session)
        known = self._open.get(id(session))
        if known is None or known.object() is not session:
            cell = self._made_in
            known = _Open(OwnRef(session), cell, look.cell, way, _operations(fields))
        known = self._open[id(session)] = replace(known, way=way)
        return known


def _is_idle(it: _Open, look: Look) -> bool:
    """Whether the last cells had nothing to do with a session, by any name that leads to its use."""
    since = look.cell - _IDLE_CELLS
    if it.used > since:
        return False
    names = _users_of(it.way, look)
    later = [source for cell, source in look.sources.items() if cell > since]
    return not any(_mentions(source, name) for source in later for name in names)


def _users_of(way: str, look: Look) -> set[str]:
    """The name itself, and what may use it: functions that have it, and what it was handed to."""
    names = {_head(way)}
    statements = [it for source in look.sources.values() for it in _statements(source)]
    while True:
        more = {
            bound
            for statement in statements
            if any(_has(statement, name) for name in names)
            for bound in _bound_by(statement)
        }
        if more <= names:
            return names
        names |= more


def _statements(source: str) -> list[ast.stmt]:
    tree = parsed(source)
    return tree.body if tree else []


def _has(statement: ast.stmt, name: str) -> bool:
    """Whether a statement hands a name on; to run a session, or to set its name, does not."""
    whole = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    asks = [it for it in ast.walk(statement) if isinstance(it, ast.Attribute) and not whole]
    asked = {id(_root(it)) for it in asks}
    return any(
        isinstance(it, ast.Name)
        and it.id == name
        and isinstance(it.ctx, ast.Load)
        and id(it) not in asked
        for it in ast.walk(statement)
    )


def _root(code: ast.expr) -> ast.expr:
    while isinstance(code, (ast.Attribute, ast.Subscript)):
        code = code.value
    return code


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    for it in ast.walk(statement):
        if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Store):
            yield it.id


def _mentions(source: str, way: str) -> bool:
    name = _head(way)
    named = bool(name) and re.search(rf"\b{re.escape(name)}\b", source) is not None
    return named or _RUNS.search(source) is not None


def _head(way: str) -> str:
    return re.split(r"[.\[]", way, maxsplit=1)[0] if is_the_users(way) else ""


def _is_open(fields: dict[str, Any]) -> bool:
    return fields.get("_closed") is False and fields.get("_session") is not None


def _operations(fields: dict[str, Any]) -> int:
    graph: Any = fields.get("_graph")
    return int(graph.version) if graph is not None else 0


def _count_made() -> int:
    """How many sessions this process made, as TensorFlow counts them."""
    module = _native.fields_of_module(_MODULE)
    counter = module.get("_python_session_create_counter")
    return int(counter.get_cell().value()) if counter is not None else 0
