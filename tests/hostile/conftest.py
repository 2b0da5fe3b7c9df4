"""Real kernels, and a shell with xleak in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kernel_fixtures import fresh_kernel, kernel, start_kernel
from shells import Session, new_session

__all__ = ["fresh_kernel", "kernel", "session", "start_kernel"]


@pytest.fixture
def session() -> Iterator[Session]:
    with new_session() as session:
        yield session
