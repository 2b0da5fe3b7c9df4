"""Memory behind what a cell deleted, set to None or replaced, and that something of the user's keeps out of sight."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.fields import is_instance
from xleak.shell.heap import user_names
from xleak.shell.holders.executed import names_let_go, parts_replaced
from xleak.shell.holders.look import REPORTED_BYTES, Look, may_be_released
from xleak.shell.holders.signs import since
from xleak.shell.holders.uses import Uses, first_name, reads_other_attributes

_LETS_GO = re.compile(r"\bdel\b|=\s*None\b|(?:\.\w+|\])\s*(?:,[^=]*)?=[^=]")
# The next cell may use a single object that keeps it.
_BEFORE_A_VERDICT = 16 << 20
_ATTRIBUTE = re.compile(r"([^\W\d]\w*)\.([^\W\d]\w*)")

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
    """The name of which a part was replaced: what it leads to now is not what was let go of."""


class AskedFor:
    """Follows what large values led to, by the last look before the cell that lets go of their names."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses
        self._led: dict[str, tuple[int, frozenset[_Block]]] = {}
        self._asked: list[_Asked] = []
        self._found: set[str] = set()
        """Ways to what a verdict has reported: it stays until it is used or gone."""

    def after_cell(self, index: int, source: str, namespace: Mapping[str, Any]) -> bool:
        """Notes which names are gone. Whether something is to be looked for."""
        if not self._led or not _LETS_GO.search(source):
            return False
        entries = _native.entries_of(namespace)
        gone = [name for name in names_let_go(source) if entries.get(name) is None]
        asked = [_Asked(name, index, *self._led[name]) for name in gone if name in self._led]
        for name, part in parts_replaced(source).items():
            if name in self._led and name in entries:
                asked.append(_Asked(part, index, *self._led[name], name))
        self._asked += asked
        return bool(asked)

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each object that keeps such memory and that no later cell uses."""
        self._uses.read(look)
        led: dict[str, set[_Block]] = {}
        there: dict[_Block, _native.HeldBlock] = {}
        for block in look.heap.blocks(user_names(look.watcher)):
            there[block.key] = block
            for name in block.names:
                led.setdefault(name, set()).add(block.key)
        names = look.watcher.shell.user_ns
        self._led = {
            name: (id(_native.value_at(names, name)), frozenset(keys)) for name, keys in led.items()
        }
        self._asked = [
            replace(it, blocks=it.blocks - led.get(it.replaced_in, set()))
            for it in self._asked
            if not it.blocks.isdisjoint(there.keys() - led.get(it.replaced_in, set()))
        ]
        known, self._found = self._found, set()
        for asked in self._asked:
            kept = [there[key] for key in asked.blocks if key in there]
            hidden = [block for block in kept if not block.is_open]
            yield from self._holders(look, asked, hidden, known)

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
            if is_reported or cause is None or self._are_used(look, asked.cell, found.way, names):
                continue
            if found.bytes < _BEFORE_A_VERDICT and not look.settled and found.way not in known:
                continue
            self._found.add(found.way)
            way = found.way.removesuffix(".__dict__")
            yield _native.Holder(
                "replaced" if asked.replaced_in else "asked for",
                way.partition(" → ")[0],
                found.bytes,
                cause.cell,
                asked.expression,
                found.count,
                f"{way} = None"
                if may_be_released(way) and not found.way.endswith(".__dict__")
                else "",
                line=cause.line,
            )

    def _are_used(self, look: Look, cell: int, way: str, names: set[str]) -> bool:
        """Whether a cell after that one uses one of the names; of the way's own name another attribute is no use."""
        kept_by = _native.value_at(look.watcher.shell.user_ns, first_name(way))
        # It steps over a parameter that no model has any more, and uses nothing of it.
        if is_instance(kept_by, "torch.optim.optimizer", "Optimizer"):
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
