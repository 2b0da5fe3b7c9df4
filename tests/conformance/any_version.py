"""A plugin of pytest for ipykernel's suite. It checks every reply to kernel_info against ipykernel's own
version, those to a client too that had to ask twice while a kernel started on a busy machine."""

import pytest


def pytest_collection_finish(session: pytest.Session) -> None:
    """Lets a kernel have any version."""
    for module in {item.module for item in session.items if isinstance(item, pytest.Function)}:
        module.KernelInfoReply.implementation_version.min = None
