"""Fixtures of the Python tests."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator

import pytest
from shells import Session, new_session

# The records of kernels that die in tests are none of the user's.
_STATE = tempfile.TemporaryDirectory(prefix="xleak-state-")
os.environ["XDG_STATE_HOME"] = _STATE.name
_TOLD = pytest.StashKey[list[str]]()


@pytest.fixture
def session() -> Iterator[Session]:
    with new_session() as session:
        yield session


@pytest.fixture
def tell_in_summary(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Prints a line below the results, whether the test passes or fails."""
    return request.config.stash.setdefault(_TOLD, []).append


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for line in config.stash.get(_TOLD, []):
        terminalreporter.write_line(line)
