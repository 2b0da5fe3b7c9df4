"""Fixtures of the Python tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from shells import Session, new_session


@pytest.fixture
def session() -> Iterator[Session]:
    with new_session() as session:
        yield session
