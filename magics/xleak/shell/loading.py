"""Imports that continue while the kernel is idle, until a request comes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

from xleak.originals import threading

_PACKAGE = "xleak."


class _RequestCame(BaseException):
    """Ends an import where its next module would have been looked for."""


class _Gate:
    """A finder in front of all others that finds nothing: Python asks it before it loads a module."""

    def __init__(self, request_waits: Callable[[], bool]) -> None:
        self._request_waits = request_waits
        self._thread = threading.get_ident()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        # Modules of other packages may not survive a second import.
        if (
            name.startswith(_PACKAGE)
            and threading.get_ident() == self._thread
            and self._request_waits()
        ):
            raise _RequestCame


def load(name: str, request_waits: Callable[[], bool]) -> bool:
    """Imports a module of xleak's and all that it needs. False: a request came between two of them; what
    is imported by then stays, and the next call continues."""
    gate = _Gate(request_waits)
    sys.meta_path.insert(0, gate)
    try:
        importlib.import_module(name)
    except _RequestCame:
        return False
    finally:
        # By identity: a comparison may call code of the user's finders.
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not gate]
    return True
