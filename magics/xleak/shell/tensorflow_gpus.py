"""What TensorFlow tells of the GPUs that it has set up."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple


class TensorFlowGpu(NamedTuple):
    """What its allocator says of one GPU, in bytes. See tf.config.experimental.get_memory_info."""

    device: str
    current: int
    peak: int
    """Since the user's last reset."""
    limit: int | None


def tensorflow_gpus() -> list[TensorFlowGpu]:
    """One for each. Imports and initialises nothing; never raises."""
    module = sys.modules.get("tensorflow.python.eager.context")
    if module is None:
        return []
    try:
        context = module.context_safe()
        if context is None or not context._initialized:
            return []
        devices = [it for it in context._logical_devices if it.device_type == "GPU"]
        limits = _limits(context) if devices else {}
        return [_read(context, it.name, limits) for it in devices]
    except Exception:
        return []  # A TensorFlow that answers otherwise.


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
