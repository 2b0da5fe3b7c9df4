"""Parameters that an optimizer alone still has, while others of its parameters are a model's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.optimizers import live_optimizers
from xleak.shell.holders.uses import first_name

# By number of the group the places of parameters in it.
_Places = dict[int, list[int]]


class LeftParameters(AtVerdict):
    """By the optimizer. It steps on with them, and nobody can read what it learns."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each."""
        for optimizer, fields in live_optimizers(look.live):
            left, links = _left(look, optimizer, fields)
            way = look.heap.way_to(optimizer) if left else ""
            if not is_the_users(way) or not is_asked(way):
                continue
            held = sum(look.heap.freed_by([], links).values())
            if held < REPORTED_BYTES:
                continue
            births = look.births_with(first_name(way))
            cause = cause_of(look.watcher.shell, births)
            yield _native.Holder(
                "left parameters",
                way,
                held,
                cause.cell if cause else None,
                _native.type_name(optimizer),
                sum(map(len, left.values())),
                _release(way, left),
                line=cause.line if cause else None,
            )


def _left(
    look: Look, optimizer: Any, fields: dict[str, Any]
) -> tuple[_Places, list[tuple[object, object]]]:
    """Where the parameters are that nothing else has, and the references that lead to them and to their state; empty
    where it has all of its parameters alone: then these may be what is learned."""
    state: Any = fields.get("state")
    kept: dict[int, Any] = {id(key): entry for key, entry in _native.items_of(state)}
    left: _Places = {}
    links: list[tuple[object, object]] = []
    others = False
    for number, group in enumerate(_native.values_of(fields.get("param_groups"))):
        parameters = _native.value_at(group, "params")
        for place, parameter in enumerate(_native.values_of(parameters)):
            if not look.heap.keeps(optimizer, parameter):
                others = True
                continue
            left.setdefault(number, []).append(place)
            links += [(parameters, parameter), (state, parameter)]
            if id(parameter) in kept:
                links.append((state, kept[id(parameter)]))
    return (left, links) if others else ({}, [])


def _release(way: str, left: _Places) -> str:
    """Code that takes them and their state out."""
    steps = [
        f"[{way}.state.pop({way}.param_groups[{number}]['params'].pop(k), None) for k in "
        f"{places[::-1]}];"
        for number, places in left.items()
    ]
    return " ".join(steps)
