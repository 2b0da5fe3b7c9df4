"""Fixtures of the tests of hostile programs and faults."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

for _name in ("kernel", "python"):
    sys.path.append(str(Path(__file__).parents[1] / _name))

from harness import PYTHON, Session, start, stop  # noqa: E402


@pytest.fixture
def start_kernel() -> Iterator[Callable[..., Session]]:
    """Starts kernels with further environment variables; all are stopped at the end."""
    started: list[Session] = []

    def starter(python: str = PYTHON, **env: str) -> Session:
        started.append(start(env, python))
        return started[-1]

    yield starter
    for session in started:
        stop(session)
