"""Fixtures: real kernels, started as Jupyter starts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from harness import PYTHON, Session, start, stop


@pytest.fixture(scope="module")
def kernel() -> Iterator[Session]:
    session = start()
    yield session
    stop(session)


@pytest.fixture
def fresh_kernel() -> Iterator[Session]:
    session = start()
    yield session
    stop(session)


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
