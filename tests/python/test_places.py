"""Values at expressions, and the code that replaces them."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

import pytest
from xleak.shell.holders.last_traceback import in_words
from xleak.shell.holders.places import as_written, parent_of, replacing, tuples_to, value_at


class Loud:
    """Raises wherever code of its own runs."""

    def __init__(self, value: Any) -> None:
        object.__setattr__(self, "value", value)

    def _refuse(self, *args: Any) -> Any:
        raise AssertionError("xleak ran user code")

    __eq__ = __hash__ = __len__ = __iter__ = __getitem__ = __getattribute__ = _refuse
    __setattr__ = __bool__ = __repr__ = _refuse
    __class__ = property(_refuse)


class LoudDict(dict[Any, Any]):
    __getitem__ = get = items = __iter__ = __len__ = Loud._refuse


class LoudList(list[Any]):
    __getitem__ = __iter__ = __len__ = Loud._refuse


class LoudKey:
    def __init__(self) -> None:
        self.armed = False

    def __hash__(self) -> int:
        return hash("a")

    def __eq__(self, other: object) -> bool:
        assert not self.armed, "xleak ran user code"
        return self is other


class Property:
    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise AssertionError("xleak ran user code")


class Slotted:
    __slots__ = ("value",)


# Functions: pytest itself asks its parameters a lot.
@pytest.mark.parametrize(
    ("value", "way"),
    [
        (lambda: ["other", "it"], "x[1]"),
        (lambda: ("it",), "x[0]"),
        (lambda: {"k": {3: "it"}}, "x['k'][3]"),
        (lambda: OrderedDict(a=["it"]), "x['a'][0]"),
        (lambda: Loud(Loud("it")), "x.value.value"),
        (lambda: LoudDict(a=LoudList([0, "it"])), "x['a'][1]"),
    ],
)
def test_a_value_is_found_without_asking_what_leads_to_it(
    value: Callable[[], Any], way: str
) -> None:
    assert value_at({"x": value()}, way) == "it"


@pytest.mark.parametrize(
    ("value", "way"),
    [
        (lambda: [1], "x[1]"),
        (dict, "x['a']"),
        (lambda: 7, "x.real"),
        (Property, "x.a"),
        (Slotted, "x.value"),
    ],
)
def test_what_is_not_there_or_not_to_be_asked_is_none(value: Callable[[], Any], way: str) -> None:
    assert value_at({"x": value()}, way) is None
    assert value_at({}, way) is None


def test_a_key_of_the_users_is_not_compared() -> None:
    key = LoudKey()
    entries = {key: 1, "a": 2}
    key.armed = True
    assert value_at({"x": entries}, "x['a']") == 2


def replaced(namespace: dict[str, Any], *ways: str) -> str | None:
    return replacing(namespace, ways, lambda way: f"cut({way})")


def test_a_name_an_element_and_an_attribute_are_assigned_to() -> None:
    namespace = {"a": 1, "b": [1], "c": {"k": 2}, "d": Loud(3)}
    assert replaced(namespace, "a", "b[0]", "c['k']", "d.value") == (
        "a = cut(a); b[0] = cut(b[0]); c['k'] = cut(c['k']); d.value = cut(d.value)"
    )


def test_a_tuple_is_made_anew() -> None:
    namespace = {"state": (1, 2), "deep": {"s": ((1, 2), 3)}}
    assert replaced(namespace, "state[0]", "state[1]") == "state = tuple(cut(s) for s in state)"
    assert replaced(namespace, "state[1]") == "state = (state[0], cut(state[1]),)"
    assert replaced(namespace, "deep['s'][0][1]") == (
        "deep['s'] = ((deep['s'][0][0], cut(deep['s'][0][1]),), deep['s'][1],)"
    )
    assert tuples_to(namespace, "deep['s'][0][1]") == [(1, 2), ((1, 2), 3)]


def test_a_named_tuple_is_made_anew_by_the_names_of_its_parts() -> None:
    pair = namedtuple("pair", "h c")
    namespace = {"state": pair(1, 2), "runs": [pair(1, (2, 3))]}
    assert replaced(namespace, "state[0]") == "state = state._replace(h=cut(state[0]))"
    assert replaced(namespace, "runs[0][1][0]") == (
        "runs[0] = runs[0]._replace(c=(cut(runs[0][1][0]), runs[0][1][1],))"
    )
    assert tuples_to(namespace, "state[0]") == [namespace["state"]]


def test_a_tuple_of_a_class_without_names_for_its_parts_is_left_alone() -> None:
    class Pair(tuple[int, int]):
        pass

    assert replaced({"state": Pair((1, 2))}, "state[0]") is None


def test_what_a_module_of_torch_has_is_written_as_its_attribute() -> None:
    assert as_written("net._modules['norm']._buffers['centre']") == "net.norm.centre"
    assert as_written("net._modules['0'].level") == "net._modules['0'].level"
    assert parent_of("net._buffers['centre']") == "net._buffers"
    assert parent_of("net") == ""


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("the last traceback.tb_next.tb_frame.f_locals['acts'][7]", "local acts[7]"),
        (
            "the last traceback → traceback.tb_frame → frame.f_locals['it']._tensors[0]",
            "local it._tensors[0]",
        ),
        ("the last traceback.args[0]", "the last traceback.args[0]"),
    ],
)
def test_a_way_through_frames_is_told_by_the_local_that_it_comes_to(way: str, told: str) -> None:
    assert in_words(way) == told
