"""Values that a statement binds to themselves and more, and whose elements nothing reads."""

from __future__ import annotations

import ast

import pytest
from shells import MIB, Session
from xleak.shell.holders.rebound_code import (
    Doing,
    Growth,
    Key,
    growing_in,
    is_empty,
    places_of,
)

STREAM = """
import numpy as np
class Stream:
    def __init__(self):
        self.seen = np.empty((0, 100))
    def push(self, x):
        self.seen = np.concatenate([self.seen, x])
        return len(self.seen)
stream = Stream()
"""
PUSH = "for k in range(4): stream.push(np.ones((1000, 100)))"
LOG = """
LOG = ""
def note(x):
    global LOG
    LOG += f"{x}\\n" * 300_000
"""
NOTE = "for k in range(4): note(k)"
LOOP = """
import numpy as np
track = np.zeros(0)
for k in range(4):
    track = np.append(track, np.ones(100_000))
"""


def reported(session: Session, *cells: str) -> dict[str, tuple[int, int | None, str]]:
    for cell in cells:
        assert session.run(cell)
    session.watcher.settle()
    found = [it for it in session.watcher.findings() if it.code == "XL423"]
    return {it.key: ((it.bytes or 0) // MIB, it.line, it.fixes[0].code) for it in found}


def test_an_attribute_that_a_method_joins_with_more_is_reported_until_it_begins_again(
    session: Session,
) -> None:
    found = reported(session, STREAM, PUSH, "print(stream.seen.shape)")
    assert found == {"stream.seen": (3, 7, "stream.seen = np.empty((0, 100))")}
    assert reported(session, found["stream.seen"][2]) == {}


def test_a_text_that_a_function_adds_to_is_reported(session: Session) -> None:
    assert reported(session, LOG, NOTE, "print(len(LOG))") == {"LOG": (2, 5, "LOG = ''")}


def test_what_began_empty_has_grown_whatever_was_called(session: Session) -> None:
    assert reported(session, LOOP, "print(len(track))") == {"track": (3, 5, "track = np.zeros(0)")}


def grown(cell: str, value: str, start: str = "np.zeros(200_000)") -> str:
    """The loop with another statement and another beginning."""
    return cell.replace("np.append(track, np.ones(100_000))", value).replace("np.zeros(0)", start)


@pytest.mark.parametrize(
    "cells",
    [
        (STREAM, PUSH, "print(stream.seen.mean())"),
        (STREAM, PUSH, "everything = stream.seen"),
        (STREAM, PUSH, "print(getattr(stream, 'seen')[0])"),
        (STREAM.replace("return", "self.seen = self.seen[-2000:]; return"), PUSH),
        (STREAM.replace("x])", "x])[-2000:]"), PUSH),
        (STREAM, "stream.push(np.ones((2000, 100)))"),
        (STREAM, f"{PUSH}; stream.seen = np.zeros((2000, 100))"),
        (LOG, NOTE, "print(LOG[-10:])"),
        (LOG, NOTE, "LOG"),
        (grown(LOOP, "np.append(track[-9:], np.ones(200_000))", "np.zeros(0)"),),
        (grown(LOOP, "0.9 * track + 1"),),
        (grown(LOOP, "np.maximum(track, k)"),),
        ("def join(a, b): return a + b", grown(LOOP, "join(track, 'x' * 400_000)", "''")),
    ],
)
def test_what_is_read_bounded_or_only_changed_is_left_alone(
    session: Session, cells: tuple[str, ...]
) -> None:
    assert reported(session, *cells) == {}


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("x = cat([x, y])", Growth.JOINED),
        ("it.x = cat((it.x, y), dim=0)", Growth.JOINED),
        ("x = concat([x, y]).reset_index(drop=True)", Growth.JOINED),
        ("x = y if x is None else cat([x, y])", Growth.JOINED),
        ("x += y", Growth.ADDED),
        ("x = x + y + z", Growth.ADDED),
        ("x = f'{x}{y}'", Growth.ADDED),
        ("x = (*x, y)", Growth.ADDED),
        ("x = append(x, y)", Growth.GIVEN),
        ("x = x.vstack(y)", Growth.GIVEN),
        ("x = x - y", None),
        ("x = cat([x, y])[-9:]", None),
        ("x = cat([x, x[-1:]])", None),
        ("x = stack([x, y]).max(0)", None),
        ("x = x.strip()", None),
        ("x = cat([y, z])", None),
    ],
)
def test_a_statement_grows_what_it_binds(code: str, how: Growth | None) -> None:
    assert [it.does for it in growing_in(code)] == ([] if how is None else [how])


@pytest.mark.parametrize(
    ("code", "does"),
    [
        ("it.x = None", [Doing.STARTS]),
        ("del it.x", [Doing.REBINDS]),
        ("it.x *= 2", [Doing.REBINDS]),
        ("it.x.shape[0]", []),
        ("len(it.x)", []),
        ("if it.x is None: it.x = y", []),
        ("if k == 0: it.x = y", [Doing.STARTS]),
        ("print('x', len(it.x))", []),
        ("getattr(it, 'x')", [Doing.READS]),
        ("it.x.mean()", [Doing.READS]),
        ("it.x", [Doing.READS]),
    ],
)
def test_other_places_start_rebind_or_read(code: str, does: list[Doing]) -> None:
    assert [it.does for it in places_of(code, Key("x", is_attribute=True))] == does


@pytest.mark.parametrize(
    ("code", "empty"),
    [
        ("''", True),
        ("()", True),
        ("np.empty((0, 3))", True),
        ("np.array([])", True),
        ("DataFrame(columns=['a'])", True),
        ("None", False),
        ("np.zeros((3, 4))", False),
        ("load(path)", False),
    ],
)
def test_a_start_shows_that_it_is_empty(code: str, empty: bool) -> None:
    assert is_empty(ast.parse(code, mode="eval").body) is empty
