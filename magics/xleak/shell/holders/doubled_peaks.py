"""Names that a cell run again binds to a new large value while the old one lives."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xleak import _native
from xleak.shell.heap import user_values
from xleak.shell.holders.look import Look
from xleak.shell.holders.reruns import ran_before
from xleak.shell.source import parsed

# Smaller values double without anybody noticing.
_LARGE_BYTES = 64 << 20
# Two values of one size at once, less what the allocators round.
_SECOND_VALUE = 0.8
_SETTLED = 0.2


@dataclass(frozen=True)
class _Value:
    """What a name held at a look."""

    identity: int
    bytes: int


@dataclass(frozen=True)
class _Doubled:
    """A name bound again, and to what."""

    identity: int
    cell: int
    peak_percent: int


class DoubledPeaks:
    """Told from the look after the cell until the name is deleted, or bound without doubling."""

    def __init__(self) -> None:
        self._values: dict[str, _Value] = {}
        self._doubled: dict[str, _Doubled] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each such name."""
        before, self._values = self._values, _large_values(look)
        if peaked_again(_spike(look.cell), look.cell, look.sources):
            for name in bound_anew(look.sources[look.cell]):
                if _is_doubled(before.get(name), self._values.get(name), look.cell):
                    identity = self._values[name].identity
                    self._doubled[name] = _Doubled(identity, look.cell, _peak_percent(look.cell))
        self._doubled = {
            name: it
            for name, it in self._doubled.items()
            if name in self._values and self._values[name].identity == it.identity
        }
        for name, it in self._doubled.items():
            size = self._values[name].bytes
            yield _native.Holder(
                "doubled peak", name, size, it.cell, name, it.peak_percent, f"del {name}"
            )


def peaked_again(spike: int, cell: int, sources: Mapping[int, str]) -> bool:
    """Whether a cell that ran before rose by a large value above where it ended. spike: bytes."""
    return spike >= _LARGE_BYTES and ran_before(cell, sources)


def _spike(cell: int) -> int:
    return _native.change_of(cell)[2]


def _kept(cell: int) -> int:
    record = _native.record(cell)
    if record is None or record.resident_before_bytes is None:
        return 0
    return (record.resident_after_bytes or 0) - record.resident_before_bytes


def _peak_percent(cell: int) -> int:
    record = _native.record(cell)
    peak = None if record is None else record.resident_peak_bytes
    return 0 if peak is None else round(100 * peak / _native.ram_bytes())


def _large_values(look: Look) -> dict[str, _Value]:
    values = user_values(look.watcher)
    sizes = {name: look.heap.retained_bytes(name) for name in values}
    return {
        name: _Value(id(value), sizes[name])
        for name, value in values.items()
        if sizes[name] >= _LARGE_BYTES
    }


def _is_doubled(old: _Value | None, new: _Value | None, cell: int) -> bool:
    """By the counters: both were there at once, and the old one is gone."""
    if old is None or new is None or old.identity == new.identity:
        return False
    gone = abs(_kept(cell) - (new.bytes - old.bytes)) <= _SETTLED * old.bytes
    return gone and _spike(cell) >= _SECOND_VALUE * min(old.bytes, new.bytes)


def bound_anew(source: str) -> list[str]:
    """Names that plain assignments of the cell bind to what is made without their old value."""
    tree = parsed(source)
    names, let_go = list[str](), set[str]()
    for statement in tree.body if tree else []:
        if isinstance(statement, ast.Delete):
            let_go |= {it.id for it in statement.targets if isinstance(it, ast.Name)}
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            if isinstance(target, ast.Name):
                used = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
                if isinstance(value, ast.Call) and target.id not in used | let_go:
                    names.append(target.id)
                let_go.add(target.id)
    return names
