"""What a verdict judges: names, and containers that are attributes of the user's objects, which keep enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xleak import _native
from xleak.shell.births import Birth
from xleak.shell.fields import fields_of, slots_of
from xleak.shell.heap import user_names
from xleak.shell.holders.at_verdict import IsAsked
from xleak.shell.holders.containers import CONTAINERS, is_users_class, works_behind_the_scenes
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.part_uses import Step
from xleak.shell.holders.uses import first_name

# Objects within objects that are looked into.
_DEEPEST = 3


@dataclass(frozen=True)
class Place:
    """label: the expression of a value. steps: from the name to that value."""

    label: str
    value: Any
    births: Sequence[Birth]
    steps: list[Step] = field(default_factory=list)

    def is_alone(self, look: Look, element: Any) -> bool:
        """Whether what else the object with the container has, or another name, cannot be the way to an element."""
        return not self.steps or look.heap.holders_of(element) == 1

    def each_alone(self, look: Look) -> str:
        """Code of a loop over the elements, as `v`, without those that something else is a way to, too; empty where
        they have no short keys."""
        is_list = not _native.is_kind_of(self.value, dict)
        elements = _native.values_of(self.value) if is_list else _native.items_of(self.value)
        pairs = enumerate(elements) if is_list else elements
        others = [key for key, it in pairs if not self.is_alone(look, it)]
        if not others:
            return f"for v in {self.label}{'' if is_list else '.values()'}"
        if not all(_native.is_exactly(key, (str, int)) for key in others):
            return ""
        numbered = f"enumerate({self.label})" if is_list else f"{self.label}.items()"
        return f"for k, v in {numbered} if k not in {others!r}"

    @property
    def name(self) -> str:
        """Where the label begins."""
        return first_name(self.label)


def large_places(look: Look, is_asked: IsAsked) -> Iterator[Place]:
    """Those to be judged, and behind which nothing was found."""
    spoken_of = {first_name(label) for label in (*look.reported, *look.explained)}
    for name in user_names(look.watcher):
        if look.kept_with(name) < REPORTED_BYTES:
            continue
        value = _native.value_at(look.watcher.shell.user_ns, name)
        if name not in spoken_of and is_asked(name):
            yield Place(name, value, look.births_with(name))
        yield from _within(look, is_asked, Place(name, value, ()), {id(value)})


def _within(look: Look, is_asked: IsAsked, owner: Place, seen: set[int]) -> Iterator[Place]:
    kind = type(owner.value)
    if not is_users_class(kind) or works_behind_the_scenes(owner.value):
        return
    class_name = _native.type_name(owner.value).rpartition(".")[2]
    for name, value in {**fields_of(owner.value), **slots_of(owner.value)}.items():
        if type(name) is not str or id(value) in seen:
            continue
        seen.add(id(value))
        step = Step("instance", frozenset([name]), class_name)
        label, steps = f"{owner.label}.{name}", [*owner.steps, step]
        if not _native.is_exactly(value, CONTAINERS):
            if len(steps) < _DEEPEST:
                yield from _within(look, is_asked, Place(label, value, (), steps), seen)
        elif is_asked(label) and look.heap.retained_by(value) >= REPORTED_BYTES:
            _, births = look.heap.elements(value) or (0, [])
            yield Place(label, value, births, steps)
