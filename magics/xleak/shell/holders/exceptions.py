"""Exceptions that the user's objects keep with their tracebacks, and tracebacks kept beside them."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from xleak import _native
from xleak.shell.holders.look import LEAST_BYTES, Look, is_the_users
from xleak.shell.holders.places import container_of, replacing, value_at

# More are let go of in a loop.
_FEW = 3
_STEP_INTO = re.compile(r"^\[(?:\d+|'[^']*')\]")


@dataclass
class _Kept:
    """Errors in one container, or one that has a name of its own."""

    errors: list[BaseException] = field(default_factory=list)
    ways: list[str] = field(default_factory=list)


def exceptions(look: Look) -> Iterator[_native.Holder]:
    """Those that a name leads to and whose frames keep much, by the container that has them."""
    errors = look.live.instances(BaseException)
    linked = {id(inner) for error in errors for inner in chain_of(error)[1:]}
    found: dict[str, _Kept] = {}
    for error in errors:
        if id(error) in linked or not any(_frames_of(it) for it in chain_of(error)):
            continue
        way = _way_to(look, error) if look.heap.retained_by(error) >= LEAST_BYTES else ""
        if is_the_users(way):
            kept = found.setdefault(_outermost_of(way) or way, _Kept())
            kept.errors.append(error)
            kept.ways.append(way)
    for place, kept in found.items():
        yield _holder(look, place, kept)
    yield from _tracebacks(look, errors)


def _way_to(look: Look, error: BaseException) -> str:
    """Rather in a container than by the name of the last one."""
    way = look.heap.way_to(error)
    others = look.heap.ways_besides(error, [way], 1) if way.isidentifier() else []
    return next((it for it in others if is_the_users(it) and container_of(it)), way)


def _outermost_of(way: str) -> str:
    """The container that a way goes through behind its last attribute: `log` of `log[0][1]`."""
    container = container_of(way)
    return (_outermost_of(container) or container) if container else ""


def _holder(look: Look, place: str, kept: _Kept) -> _native.Holder:
    several = len(kept.errors) > 1
    places = [
        f"{way}{link}.__traceback__"
        for way, error in sorted(zip(kept.ways, kept.errors, strict=True), key=lambda it: it[0])
        for link in _links(error)
    ]
    return _native.Holder(
        "exceptions" if several else "exception",
        place if several else kept.ways[0],
        look.heap.freed_without(kept.errors) if several else look.heap.retained_by(kept.errors[0]),
        None,
        _native.type_name(kept.errors[0]),
        len(kept.errors) if several else len(chain_of(kept.errors[0])),
        _forgetting(place, value_at(look.watcher.shell.user_ns, place), places),
    )


def _forgetting(place: str, container: object, places: list[str]) -> str:
    """Code that lets go of all frames; a loop where they are many, and all elements are alike."""
    ends = {_STEP_INTO.sub("", way.removeprefix(place), count=1) for way in places}
    is_each = len(ends) == 1 and len(_native.values_of(container)) == len(places)
    if len(places) <= _FEW or not is_each:
        return "; ".join(f"{way} = None" for way in places)
    each = f"{place}.values()" if _native.is_kind_of(container, dict) else place
    return f"for it in {each}: it{ends.pop()} = None"


def _tracebacks(look: Look, errors: list[BaseException]) -> Iterator[_native.Holder]:
    """Those that a container of the user's has itself, as it has one of `sys.exc_info()`."""
    its_error = {id(_frames_of(error)): error for error in errors}
    for traceback in look.live.instances(types.TracebackType):
        held = look.heap.retained_by(traceback)
        way = look.heap.way_to(traceback) if held >= LEAST_BYTES else ""
        error = its_error.get(id(traceback))
        if not is_the_users(way) or not container_of(way):
            continue
        gone = replacing(look.watcher.shell.user_ns, [way], lambda _: "None")
        also = look.heap.way_to(error) if error is not None else ""
        steps = [f"{also}.__traceback__ = None"] if is_the_users(also) else []
        release = "; ".join([*steps, gone]) if gone else ""
        yield _native.Holder("exception", way, held, None, "traceback", 1, release)


def chain_of(error: BaseException) -> list[BaseException]:
    """An exception and those that follow along __cause__ and __context__."""
    return [linked for linked, _ in _walk(error)]


def _links(error: BaseException) -> list[str]:
    """How each of the chain is reached from the first, where it has frames."""
    return [link for linked, link in _walk(error) if _frames_of(linked)]


def _walk(error: BaseException) -> list[tuple[BaseException, str]]:
    # Unbound, because a class of the user's may have attributes of its own making.
    links: dict[str, Any] = {
        ".__cause__": BaseException.__cause__,
        ".__context__": BaseException.__context__,
    }
    chain = [(error, "")]
    for current, way in chain:
        for link, attribute in links.items():
            inner = attribute.__get__(current)
            if inner is not None and all(inner is not known for known, _ in chain):
                chain.append((inner, way + link))
    return chain


def _frames_of(error: BaseException) -> Any:
    frames: Any = BaseException.__traceback__
    return frames.__get__(error)
