"""What TensorFlow tells of its own allocators."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from xleak import _native


class TensorFlowGpu(NamedTuple):
    """What its allocator says of one GPU, in bytes. See tf.config.experimental.get_memory_info."""

    device: str
    current: int
    peak: int
    """Since the user's last reset."""
    limit: int | None


def tensorflow_gpus() -> list[TensorFlowGpu]:
    """One for each. Imports and initialises nothing; never raises."""
    try:
        context = _context()
        if context is None:
            return []
        devices = [it for it in context._logical_devices if it.device_type == "GPU"]
        limits = _limits(context) if devices else {}
        return [_read(context, it.name, limits) for it in devices]
    except Exception:
        return []  # A TensorFlow that answers otherwise.


def tensorflow_host_bytes() -> int | None:
    """What its pool for the host has handed out; None where TensorFlow is not in use, or does not say.

    Memory that falls from here stays with the pool, for the next tensors.
    """
    context = _context()
    return None if context is None else int(context.get_memory_info("CPU:0")["current"])


def _context() -> Any:
    """TensorFlow's, where it is set up already."""
    ask = _native.fields_of_module("tensorflow.python.eager.context").get("context_safe")
    context = ask() if ask is not None else None
    return context if context is not None and context._initialized else None


def _read(context: Any, name: str, limits: dict[str, int]) -> TensorFlowGpu:
    short = name.rpartition("device:")[2]
    info = context.get_memory_info(short)
    return TensorFlowGpu(short, int(info["current"]), int(info["peak"]), limits.get(short))


def _limits(context: Any) -> dict[str, int]:
    """By device what its allocator was given."""
    eager = sys.modules["tensorflow.python.pywrap_tfe"]
    session = sys.modules.get("tensorflow.python.client._pywrap_tf_session")
    if session is None:
        return {}
    devices = eager.TFE_ContextListDevices(context._context_handle)
    try:
        return {
            session.TF_DeviceListName(devices, it).rpartition("device:")[2]: int(
                session.TF_DeviceListMemoryBytes(devices, it)
            )
            for it in range(session.TF_DeviceListCount(devices))
        }
    finally:
        eager.TF_DeleteDeviceList(devices)
