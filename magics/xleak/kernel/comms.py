"""Comms by the ``comm`` package, as ipywidgets 8 expects them."""

from __future__ import annotations

import importlib.util
import sys
import types
from typing import Any

import comm
from comm.base_comm import BaseComm, CommManager

from xleak.kernel.display import publish


class KernelComm(BaseComm):
    """A comm whose messages go over this kernel's iopub channel."""

    def publish_msg(
        self,
        msg_type: str,
        data: Any = None,
        metadata: Any = None,
        buffers: Any = None,
        **keys: Any,
    ) -> None:
        content = {"data": data or {}, "comm_id": self.comm_id, **keys}
        publish(msg_type, content, metadata, buffers)


def install() -> CommManager:
    """Make this kernel the one that ``comm`` and its older address in ipykernel speak to."""
    manager = CommManager()
    comm.create_comm = KernelComm
    comm.get_comm_manager = lambda: manager
    module = types.ModuleType("ipykernel.comm")
    module.__dict__.update(Comm=KernelComm, CommManager=CommManager, __path__=_ipykernel_comm())
    sys.modules["ipykernel.comm"] = module
    return manager


def _ipykernel_comm() -> list[str]:
    """Where ipykernel's own submodules lie, if it is installed: other parts of it import them."""
    spec = importlib.util.find_spec("ipykernel")
    return [f"{place}/comm" for place in (spec and spec.submodule_search_locations) or ()]
