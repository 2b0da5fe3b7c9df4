"""Exceptions that the user's objects keep with their tracebacks, and tracebacks kept beside them."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.holders.look import LEAST_BYTES, Look, is_the_users
from xleak.shell.holders.places import container_of, replacing


def exceptions(look: Look) -> Iterator[_native.Holder]:
    """Those that a name leads to and whose frames keep much."""
    errors = look.live.instances(BaseException)
    linked = {id(inner) for error in errors for inner in chain_of(error)[1:]}
    for error in errors:
        if id(error) in linked or not any(_frames_of(it) for it in chain_of(error)):
            continue
        held = look.heap.retained_by(error)
        way = look.heap.way_to(error) if held >= LEAST_BYTES else ""
        if is_the_users(way):
            name = _native.type_name(error)
            release = "; ".join(f"{way}{link}.__traceback__ = None" for link in _links(error))
            yield _native.Holder("exception", way, held, None, name, len(chain_of(error)), release)
    yield from _tracebacks(look, errors)


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
