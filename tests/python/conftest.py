"""Fixtures of the Python tests."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest
from shells import Session, new_session

# The records of kernels that die in tests are none of the user's.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="xleak-state-")


@pytest.fixture
def session() -> Iterator[Session]:
    with new_session() as session:
        yield session
