"""What names hold, as tables and as sentences."""

from __future__ import annotations

from collections.abc import Sequence

from xleak.render import columns
from xleak.render.table import printable
from xleak.render.units import human_bytes
from xleak.shell.heap import NameFacts

HEADER = ("name", "type", "itself", "only here", "shared", "device")
_NUMERIC = frozenset({"itself", "only here", "shared"})


def _rows(names: Sequence[NameFacts]) -> list[tuple[str, ...]]:
    return [
        (
            printable(fact.label),
            printable(fact.type_name),
            human_bytes(fact.own),
            human_bytes(fact.retained),
            human_bytes(fact.shared),
            ", ".join(f"{name} {human_bytes(size)}" for name, size in sorted(fact.devices.items())),
        )
        for fact in names
    ]


def name_table(names: Sequence[NameFacts]) -> str:
    """One line a name: what it takes itself, what goes with it, what others hold too."""
    return columns.plain(HEADER, _rows(names), _NUMERIC)


def name_fragment(names: Sequence[NameFacts]) -> str:
    """The same as HTML, in the style that the report's fragment brings."""
    return columns.fragment("What the names hold", HEADER, _rows(names), _NUMERIC)


def name_lines(
    fact: NameFacts, others: Sequence[str], more: bool, inside: Sequence[tuple[str, int]]
) -> str:
    """One name in sentences. `others`: how else its value is reached. `inside`: (way, bytes)."""
    lines = [
        f"{printable(fact.label)} ({printable(fact.type_name)}): {human_bytes(fact.own)} itself, "
        f"{human_bytes(fact.retained)} that nothing else holds, {human_bytes(fact.shared)} shared"
    ]
    if others:
        lines.append(f"the value stays if `{printable(fact.label)}` goes; it is also held by")
        lines += [f"  {printable(way)}" for way in others]
        lines += ["  and more"] if more else []
    else:
        lines.append(f"{human_bytes(fact.retained)} come back if `{printable(fact.label)}` goes")
        lines += [f"  {human_bytes(size):>9}  {printable(way)}" for way, size in inside]
    return "\n".join(lines)
