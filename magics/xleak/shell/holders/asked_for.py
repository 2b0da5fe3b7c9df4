"""Memory behind what a cell deleted, set to None, replaced or closed, and that something of the user's keeps out of
sight."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.fields import fields_of, is_instance
from xleak.shell.heap import FIGURES, figures, user_names
from xleak.shell.holders.executed import names_let_go, parts_replaced
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users, may_be_released
from xleak.shell.holders.places import place_of, value_at
from xleak.shell.holders.signs import since
from xleak.shell.holders.uses import Uses, first_name, reads_other_attributes

_LETS_GO = re.compile(r"\bdel\b|=\s*None\b|(?:\.\w+|\])\s*(?:,[^=]*)?=[^=]")
# The next cell may use a single object that keeps it.
_BEFORE_A_VERDICT = 16 << 20
_ATTRIBUTE = re.compile(r"([^\W\d]\w*)\.([^\W\d]\w*)")
# Behind these lies what a function has captured.
_CAPTURED = re.compile(r"\.__(?:defaults|kwdefaults|closure)__")
# What gathers closed figures; a name that drew the last one is left over from drawing it.
_GATHERING = ("list", "dict", "tuple", "set", "collections.deque")

# Address and order of birth of a block, which no other block has.
_Block = tuple[int, int]


@dataclass(frozen=True)
class _Asked:
    """What a cell let go of, and the blocks that its name led to."""

    expression: str
    cell: int
    value: int
    """The id of what the name stood for."""
    blocks: frozenset[_Block]
    replaced_in: str = ""
    """The name of which a part was replaced, or the label of the open figures: what it leads to now is not what was
    let go of."""
    figures: frozenset[int] = frozenset()
    """The ids of those that were closed: what they drew may be somebody else's."""

    @property
    def kind(self) -> str:
        """Of a holder."""
        if self.replaced_in == FIGURES:
            return "closed"
        return "replaced" if self.replaced_in else "asked for"


class AskedFor:
    """Follows what large values led to, by the last look before the cell that lets go of their names."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses
        self._led: dict[str, tuple[int, frozenset[_Block]]] = {}
        self._drawn: tuple[frozenset[int], frozenset[_Block]] = (frozenset(), frozenset())
        """The ids of the open figures, and what they led to."""
        self._asked: list[_Asked] = []
        self._found: set[str] = set()
        """Ways to what a verdict has reported: it stays until it is used or gone."""

    def after_cell(self, index: int, source: str, namespace: Mapping[str, Any]) -> bool:
        """Notes which names are gone. Whether something is to be looked for."""
        asked = list(self._closed(index))
        if self._led and _LETS_GO.search(source):
            asked += self._let_go(index, source, namespace)
        self._asked += asked
        return bool(asked)

    def _closed(self, index: int) -> Iterator[_Asked]:
        were_open, blocks = self._drawn
        if closed := were_open - _open_figures():
            self._drawn = (frozenset(), frozenset())
            yield _Asked("figures", index, 0, blocks, FIGURES, closed)

    def _let_go(self, index: int, source: str, namespace: Mapping[str, Any]) -> list[_Asked]:
        entries = _native.entries_of(namespace)
        gone = [name for name in names_let_go(source) if entries.get(name) is None]
        asked = [_Asked(name, index, *self._led[name]) for name in gone if name in self._led]
        for name, part in parts_replaced(source).items():
            if name in self._led and name in entries:
                asked.append(_Asked(part, index, *self._led[name], name))
        return asked

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each object that keeps such memory and that no later cell uses."""
        self._uses.read(look)
        led: dict[str, set[_Block]] = {}
        there: dict[_Block, _native.HeldBlock] = {}
        for block in look.heap.blocks(user_names(look.watcher)):
            there[block.key] = block
            for name in block.names:
                led.setdefault(name, set()).add(block.key)
        drawn = {block.key for block in look.heap.blocks([FIGURES])}
        self._drawn = (_open_figures(), frozenset(drawn))
        led[FIGURES] = drawn
        names = look.watcher.shell.user_ns
        self._led = {
            name: (id(_native.value_at(names, name)), frozenset(keys))
            for name, keys in led.items()
            if name != FIGURES
        }
        self._asked = [
            replace(it, blocks=it.blocks - led.get(it.replaced_in, set()))
            for it in self._asked
            if not it.blocks.isdisjoint(there.keys() - led.get(it.replaced_in, set()))
        ]
        known, self._found = self._found, set()
        named: set[str] = set()
        # What was closed is many figures, of which names may have the last.
        for asked in sorted(self._asked, key=lambda it: it.replaced_in != FIGURES):
            kept = [there[key] for key in asked.blocks if key in there]
            hidden = [it for it in kept if not it.is_open and named.isdisjoint(it.names)]
            found = list(self._holders(look, asked, hidden, known))
            named |= {first_name(it.label) for it in found}
            yield from found

    def _holders(
        self, look: Look, asked: _Asked, blocks: Sequence[_native.HeldBlock], known: set[str]
    ) -> Iterator[_native.Holder]:
        if not blocks:
            return
        if not look.settled and asked.cell == look.cell:
            look.search_again()
            return
        names = {name for block in blocks for name in block.names}
        addresses = [block.key[0] for block in blocks]
        for found in look.heap.holdings(addresses, asked.value, REPORTED_BYTES):
            cause = cause_of(look.watcher.shell, found.births)
            is_reported = found.way in look.reported or first_name(found.way) not in names
            if is_reported or cause is None or self._are_used(look, asked.cell, found, names):
                continue
            if found.bytes < _BEFORE_A_VERDICT and not look.settled and found.way not in known:
                continue
            if asked.replaced_in == FIGURES and not _keeps_figures(look, asked, found):
                continue
            self._found.add(found.way)
            function = _function_on(look, found)
            way = function or found.way.removesuffix(".__dict__")
            yield _native.Holder(
                asked.kind,
                way.partition(" → ")[0],
                found.bytes,
                cause.cell,
                asked.expression,
                found.count,
                f"del {function}" if function else _release(found.way, asked),
                line=cause.line,
            )

    def _are_used(self, look: Look, cell: int, found: _native.Holding, names: set[str]) -> bool:
        """Whether a cell after that one uses one of the names; of the way's own name another attribute is no use."""
        way = found.way
        kept_by = _native.value_at(look.watcher.shell.user_ns, first_name(way))
        # It steps over a parameter that no model has any more, and uses nothing of it.
        if is_instance(kept_by, "torch.optim.optimizer", "Optimizer") or _has_never_run(
            look, found
        ):
            return False
        sources = since(cell, look.sources)
        if look.running != look.sources.get(self._uses.last_read):
            sources[look.cell] = look.running
        name = first_name(way)
        attribute = _ATTRIBUTE.match(way)
        for source in sources.values():
            used = names & self._uses.of(source)
            if used - {name}:
                return True
            if used and not (attribute and reads_other_attributes(source, *attribute.groups())):
                return True
        return False


def _open_figures() -> frozenset[int]:
    canvases = [fields_of(manager).get("canvas") for manager in _native.values_of(figures())]
    return frozenset(id(fields_of(canvas).get("figure")) for canvas in canvases)


def _keeps_figures(look: Look, asked: _Asked, found: _native.Holding) -> bool:
    value = value_at(look.watcher.shell.user_ns, found.way)
    if found.type_name in _GATHERING:
        return any(id(it) in asked.figures for it in _native.values_of(value))
    return id(value) in asked.figures and found.bytes >= _BEFORE_A_VERDICT


def _release(way: str, asked: _Asked) -> str:
    # What an array shows a part of is never set by others.
    is_fixed = way.endswith((".__dict__", ".base"))
    if is_fixed or not may_be_released(way):
        return ""
    # Figures are cycles, which wait for the collector.
    collected = '; __import__("gc").collect();' if asked.replaced_in == FIGURES else ""
    return f"{way} = None{collected}"


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
