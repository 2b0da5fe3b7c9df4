"""Cells whose code asks where it is."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Generator
from typing import Any

import pytest
from xleak import _native

CELL = "/tmp/ipykernel_7/99.py"
Place = tuple[str, int, str]


@pytest.fixture
def reader() -> Generator[None]:
    _native.install_line_reader()
    yield
    _native.uninstall_line_reader()


def run(source: str, file: str, **names: Any) -> dict[str, Any]:
    """Runs a text as a cell of this file is run; what it named then."""
    namespace: dict[str, Any] = {"line_here": _native.line_here, **names}
    exec(compile(textwrap.dedent(source), file, "exec"), namespace)
    return namespace


def here(function: str, after: int = 0) -> Place:
    """The caller's place, so many lines on."""
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    # The table of places keeps the end of a long name.
    return frame.f_back.f_code.co_filename, frame.f_back.f_lineno + after, _cut(function)


def _cut(function: str, kept_bytes: int = 55) -> str:
    mark = "…"
    long = len(function) > kept_bytes
    return mark + function[len(mark.encode()) - kept_bytes :] if long else function
