"""Memory behind what a cell deleted, set to None, replaced or closed, and that something of the user's keeps out of
sight."""

from __future__ import annotations

import re
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from xleak import _native
from xleak.shell.births import Cause, cause_of
from xleak.shell.fields import dictionary_of, fields_of, is_instance
from xleak.shell.heap import FIGURES, figures, user_names
from xleak.shell.holders.containers import is_code_or_data
from xleak.shell.holders.executed import (
    MadeFor,
    definitions_around,
    made_for_names_let_go,
    names_bound,
    names_let_go,
    parts_let_go,
    parts_replaced,
)
from xleak.shell.holders.look import (
    REPORTED_BYTES,
    SINGLE_BYTES,
    Look,
    is_the_users,
    may_be_released,
)
from xleak.shell.holders.method_reads import may_read
from xleak.shell.holders.places import parent_of, place_of, replacing, value_at
from xleak.shell.holders.repairs import taking_out
from xleak.shell.holders.signs import since
from xleak.shell.holders.uses import Uses, attributes_read, first_name

_LETS_GO = re.compile(r"\bdel\b|=\s*None\b|(?:\.\w+|\])\s*(?:,[^=]*)?=[^=]")
_ASKED_FOR, _REBOUND, _TAKEN_OUT = "asked for", "rebound", "taken out"
_MUTABLE = (list, dict, set, deque, defaultdict, OrderedDict)
_PLAIN = (*_MUTABLE, tuple)
# A container that keeps hardly more is there for what it was to let go of.
_HARDLY_MORE = 1.1
_ATTRIBUTE = re.compile(r"([^\W\d]\w*)\.([^\W\d]\w*)")
# Behind these lies what a function has captured.
_CAPTURED = re.compile(r"\.__(?:defaults|kwdefaults|closure)__")
_STEP = re.compile(r" → |\.|\[")
# What gathers closed figures; a name that drew the last one is left over from drawing it.
_GATHERING = ("list", "dict", "tuple", "set", "collections.deque")

# Address and order of birth of a block, which no other block has.
_Block = tuple[int, int]


class _Traits(NamedTuple):
    """What tells an object from another one that has its address once it is gone."""

    id: int
    type_name: str
    size: int | None
    """How many elements a plain container has."""
    first: int
    """The id of its first element."""


_NOTHING = _Traits(0, "", None, 0)


@dataclass(frozen=True)
class _Asked:
    """What a cell let go of, and the blocks that its name led to."""

    expression: str
    cell: int
    value: _Traits
    """Of what the name stood for."""
    blocks: frozenset[_Block]
    kind: str = _ASKED_FOR
    """Of a holder."""
    of_owner_since: int | None = None
    """Where it was an object that shows no data itself: after which cell its name stood for it."""
    figures: frozenset[int] = frozenset()
    """The ids of those that were closed: what they drew may be somebody else's."""

    @property
    def was_meant(self) -> bool:
        """Whether nothing but to let go can have been the purpose: who replaces or moves may go on with it."""
        return self.kind not in (_REBOUND, _TAKEN_OUT)


@dataclass(frozen=True)
class _Change:
    """What a cell let go of: a name or its parts, the kind of a holder, the traits of what stood at these parts."""

    cell: int
    expression: str
    kind: str
    parts: Sequence[_Traits] = ()


@dataclass(frozen=True)
class _Led:
    """What a name stood for at the last look, since which cell, and the blocks it led to."""

    value: _Traits
    since: int
    is_owner: bool
    """Whether it is an object that shows no data itself, such as a model."""
    is_plain: bool
    """Whether it is a plain container."""
    blocks: frozenset[_Block]


class AskedFor:
    """Follows what large values led to, from the last look before the cell that lets go of them."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses
        self._led: dict[str, _Led] = {}
        self._drawn: tuple[frozenset[int], frozenset[_Block]] = (frozenset(), frozenset())
        """The ids of the open figures, and what they led to."""
        self._parts: dict[str, list[_Traits]] = {}
        """By name the traits of what stands at the parts that the cell is to let go of."""
        self._changed: dict[str, _Change] = {}
        """By name what the cells since the last look have let go of."""
        self._looked_at = 0
        """Index of the cell after which the last look was."""
        self._asked: list[_Asked] = []
        self._found: set[str] = set()
        """Ways to what a verdict has reported: it stays until it is used or gone."""

    def before_cell(self, source: str, namespace: dict[str, Any]) -> None:
        """Notes what stands at the parts that the cell is to delete or to set to None: `index.rows`."""
        parts = parts_let_go(source) if self._led and _LETS_GO.search(source) else {}
        self._parts = {
            name: [_traits(value_at(namespace, way)) for way in ways]
            for name, ways in parts.items()
            if name in self._led
        }

    def after_cell(self, index: int, source: str, namespace: Mapping[str, Any]) -> bool:
        """Notes which names stand for something else. Whether something is to be looked for."""
        closed = list(self._closed(index))
        self._asked += closed
        changed = dict(self._let_go(index, source, namespace)) if self._led else {}
        self._changed |= changed
        return bool(closed or changed)

    def _closed(self, index: int) -> Iterator[_Asked]:
        were_open, blocks = self._drawn
        if closed := were_open - _open_figures():
            self._drawn = (frozenset(), frozenset())
            yield _Asked("figures", index, _NOTHING, blocks, "closed", figures=closed)

    def _let_go(
        self, index: int, source: str, namespace: Mapping[str, Any]
    ) -> Iterator[tuple[str, _Change]]:
        entries = _native.entries_of(namespace)
        parts = parts_replaced(source) if _LETS_GO.search(source) else {}
        for name, led in self._led.items():
            value = entries.get(name)
            if value is None:
                yield name, _Change(index, name, _ASKED_FOR)
            elif id(value) != led.value.id:
                # The variable of a loop is nobody's wish.
                if name in names_bound(source):
                    was_meant = name in names_let_go(source)
                    yield name, _Change(index, name, _ASKED_FOR if was_meant else _REBOUND)
            elif name in parts:
                yield name, _Change(index, parts[name], "replaced", self._parts.get(name, []))
            elif led.value.size and (_traits(value).size or 0) < led.value.size:
                yield name, _Change(index, name, _TAKEN_OUT)

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each object that keeps such memory and that no later cell uses."""
        self._uses.read(look)
        led: dict[str, set[_Block]] = {}
        there: dict[_Block, _native.HeldBlock] = {}
        for block in look.heap.blocks(user_names(look.watcher)):
            there[block.key] = block
            for name in block.names:
                led.setdefault(name, set()).add(block.key)
        self._note(look, led, there)
        known, self._found = self._found, set()
        named: set[str] = set()
        # What was closed is many figures, of which names may have the last.
        for asked in sorted(self._asked, key=lambda it: it.kind != "closed"):
            kept = [there[key] for key in asked.blocks if key in there]
            hidden = [
                it
                for it in kept
                if named.isdisjoint(it.names) and (not it.is_open or self._are_pieces(asked, it))
            ]
            found = list(self._holders(look, asked, hidden, known))
            named |= {first_name(it.label) for it in found}
            yield from found

    def _are_pieces(self, asked: _Asked, block: _native.HeldBlock) -> bool:
        """Whether nothing but plain containers has it that were filled since its owner was made: lists of a model's
        parameters."""
        since = asked.of_owner_since
        leading = [self._led[name] for name in block.names]
        return since is not None and all(it.is_plain and it.since >= since for it in leading)

    def _note(
        self, look: Look, led: dict[str, set[_Block]], there: Mapping[_Block, _native.HeldBlock]
    ) -> None:
        """What was let go of since the last look, and what names lead to now."""
        for name, change in self._changed.items():
            before = self._led[name]
            lost = before.blocks - led.get(name, set())
            # An owner may have more than one way to what one of them was to lose.
            for part in change.parts:
                lost |= before.blocks.intersection(look.heap.blocks_behind(part.id))
            value = next(iter(change.parts), before.value)
            since = before.since if before.is_owner else None
            self._asked.append(
                _Asked(change.expression, change.cell, value, lost, change.kind, since)
            )
        self._asked += self._made_and_let_go(look, there)
        self._changed = {}
        drawn = frozenset(block.key for block in look.heap.blocks([FIGURES]))
        self._drawn = (_open_figures(), drawn)
        names = _native.entries_of(look.watcher.shell.user_ns)
        self._led = {
            name: self._leading(look, name, names.get(name), keys) for name, keys in led.items()
        }
        self._asked = [
            replace(it, blocks=it.blocks - drawn if it.kind == "closed" else it.blocks)
            for it in self._asked
            if not it.blocks.isdisjoint(there)
        ]

    def _leading(self, look: Look, name: str, value: Any, blocks: set[_Block]) -> _Led:
        before = self._led.get(name)
        is_same = before is not None and before.value.id == id(value)
        return _Led(
            _traits(value),
            before.since if before and is_same else look.cell,
            value is not None and not is_code_or_data(value),
            _native.is_exactly(value, _PLAIN),
            frozenset(blocks),
        )

    def _made_and_let_go(
        self, look: Look, there: Mapping[_Block, _native.HeldBlock]
    ) -> Iterator[_Asked]:
        """What the cells since the last look made for names that they deleted themselves."""
        recent = since(self._looked_at, look.sources)
        self._looked_at = look.cell
        let_go = [
            (cell, it) for cell, source in recent.items() for it in made_for_names_let_go(source)
        ]
        known = set[_Block]().union(*(it.blocks for it in self._led.values()))
        made = [it for key, it in there.items() if let_go and not it.is_open and key not in known]
        causes = {it.key: cause_of(look.watcher.shell, it.births) for it in made}
        for cell, statement in let_go:
            blocks = [
                key
                for key, cause in causes.items()
                if cause is not None and self._is_made_by(look, statement, cell, cause)
            ]
            if blocks:
                yield _Asked(statement.name, cell, _NOTHING, frozenset(blocks))

    def _is_made_by(self, look: Look, statement: MadeFor, cell: int, cause: Cause) -> bool:
        """Whether a line is one of a statement, or of the functions and classes that it calls."""
        if cause.line is None:
            return False
        if cause.cell == cell and cause.line in statement.lines:
            return True
        called = self._uses.of(statement.value)
        return not called.isdisjoint(
            definitions_around(look.sources.get(cause.cell, ""), cause.line)
        )

    def _holders(
        self, look: Look, asked: _Asked, blocks: Sequence[_native.HeldBlock], known: set[str]
    ) -> Iterator[_native.Holder]:
        if not blocks:
            return
        holdings = _holdings(look, asked.value, [block.key[0] for block in blocks])
        if not look.settled and asked.cell == look.cell:
            look.explained.update(it.way for it in holdings)
            look.search_again()
            return
        names = {name for block in blocks for name in block.names}
        for found in holdings:
            cause = cause_of(look.watcher.shell, found.births)
            is_reported = found.way in look.reported or first_name(found.way) not in names
            if is_reported or cause is None or self._are_used(look, asked, found, names):
                continue
            if found.bytes < SINGLE_BYTES and not look.settled and found.way not in known:
                continue
            if _shows(look, asked, found.way):
                continue
            if asked.kind == "closed" and not _keeps_figures(look, asked, found):
                continue
            self._found.add(found.way)
            release = _release(look, asked, found) or taking_out(look, found.way, found.bytes)
            yield _native.Holder(
                asked.kind,
                _function_on(look, found)
                or found.way.removesuffix(".__dict__").partition(" → ")[0],
                found.bytes,
                cause.cell,
                asked.expression,
                found.count,
                release,
                line=cause.line,
            )

    def _are_used(self, look: Look, asked: _Asked, found: _native.Holding, names: set[str]) -> bool:
        """Whether a cell after that one uses one of the names; of the way's own name another attribute is no use, nor
        is a method that does not read the one of the way. What may have been moved is also used by the cell that
        did."""
        way = found.way
        kept_by = _native.value_at(look.watcher.shell.user_ns, first_name(way))
        # It steps over a parameter that no model has any more, and uses nothing of it.
        if is_instance(kept_by, "torch.optim.optimizer", "Optimizer") or _has_never_run(
            look, found
        ):
            return False
        sources = since(asked.cell if asked.was_meant else asked.cell - 1, look.sources)
        if look.running != look.sources.get(self._uses.last_read):
            sources[look.cell] = look.running
        name = first_name(way)
        attribute = _ATTRIBUTE.match(way)
        for source in sources.values():
            used = names & self._uses.of(source)
            if used - {name}:
                return True
            read = attributes_read(source, name) if used and attribute else None
            if used and (read is None or attribute is None):
                return True
            if attribute and any(_reads(kept_by, it, attribute.group(2)) for it in read or ()):
                return True
        return False


def _reads(owner: Any, operation: str, attribute: str) -> bool:
    own = {it for it in fields_of(owner) if type(it) is str}
    return may_read(owner, operation, {attribute}, own)


def _open_figures() -> frozenset[int]:
    canvases = [fields_of(manager).get("canvas") for manager in _native.values_of(figures())]
    return frozenset(id(fields_of(canvas).get("figure")) for canvas in canvases)


def _keeps_figures(look: Look, asked: _Asked, found: _native.Holding) -> bool:
    value = value_at(look.watcher.shell.user_ns, found.way)
    if found.type_name in _GATHERING:
        return any(id(it) in asked.figures for it in _native.values_of(value))
    return id(value) in asked.figures and found.bytes >= SINGLE_BYTES


def _release(look: Look, asked: _Asked, found: _native.Holding) -> str:
    """Code that lets go of it and of hardly more; empty where none is known."""
    namespace, way = look.watcher.shell.user_ns, found.way
    if function := _function_on(look, found):
        return f"del {function}"
    # Figures are cycles, which wait for the collector.
    collected = '; __import__("gc").collect();' if asked.kind == "closed" else ""
    while way := _releasable(way):
        value = value_at(namespace, way)
        if way != found.way and not _is_hardly_more(look, value, found):
            return ""
        if way == first_name(way):
            if look.kept_with(way) < found.bytes:
                return ""
            return f"del {way}{collected}" if collected else look.deleting(way)
        if _native.is_exactly(value, _MUTABLE):
            is_all = _is_hardly_more(look, value, found)
            return f"{way}.clear(){collected}" if is_all else ""
        # Who calls each element of a list of callbacks would call None.
        if way.endswith("]") and _native.is_exactly(value_at(namespace, parent_of(way)), _MUTABLE):
            return f"del {way}{collected}"
        # What C code has as a member, or an array shows a part of, is set by nobody.
        if value is not None and not way.endswith(".base"):
            released = replacing(namespace, [way], lambda _: "None")
            return f"{released}{collected}" if released else ""
        way = parent_of(way)
    return ""


def _releasable(way: str) -> str:
    """The longest part of a way that a repair may be made of."""
    while way and not may_be_released(way):
        way = way[: max(way.rfind(step) for step in (" → ", ".", "["))] if _STEP.search(way) else ""
    return way


def _is_hardly_more(look: Look, value: Any, found: _native.Holding) -> bool:
    return look.heap.retained_by(value) <= found.bytes * _HARDLY_MORE


def _shows(look: Look, asked: _Asked, way: str) -> bool:
    """Whether a name or plain containers lead to the very object that was let go of."""
    namespace = look.watcher.shell.user_ns
    if _traits(value_at(namespace, way)) != asked.value:
        return False
    while way := parent_of(way):
        if not _native.is_exactly(value_at(namespace, way), _PLAIN):
            return False
    return True


def _traits(value: Any) -> _Traits:
    if not _native.is_exactly(value, _PLAIN):
        return _Traits(id(value), _native.type_name(value), None, 0)
    first = next(iter(_native.values_of(value, 0, 1)), None)
    return _Traits(id(value), _native.type_name(value), len(value), id(first))


def _holdings(look: Look, last: _Traits, addresses: list[int]) -> list[_native.Holding]:
    """What keeps blocks. The way to them ends at an object with these traits."""
    found = look.heap.holdings(addresses, last.id, REPORTED_BYTES)
    ends = [_traits(_end_of(look, it.way)) for it in found]
    if any(it.id == last.id and it != last for it in ends):
        return look.heap.holdings(addresses, 0, REPORTED_BYTES)
    return found


def _end_of(look: Look, way: str) -> Any:
    owner = way.removesuffix(".__dict__")
    value = value_at(look.watcher.shell.user_ns, owner)
    return value if owner == way else dictionary_of(value)


def _function_on(look: Look, found: _native.Holding) -> str:
    """The expression of the function that alone keeps it; empty where none does or it cannot be deleted."""
    captured = _CAPTURED.search(found.way)
    way = found.way[: captured.start()] if captured else ""
    namespace = look.watcher.shell.user_ns
    function = value_at(namespace, way) if is_the_users(way) else None
    is_alone = type(function) is types.FunctionType and (
        look.heap.retained_by(function) >= found.bytes
    )
    return way if is_alone and place_of(namespace, way) == way else ""


def _has_never_run(look: Look, found: _native.Holding) -> bool:
    """Whether a function alone keeps it that was never called: to use what has the function is no use of it."""
    function = value_at(look.watcher.shell.user_ns, _function_on(look, found))
    return type(function) is types.FunctionType and not _native.may_have_run(function.__code__)
