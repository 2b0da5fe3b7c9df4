"""The modes of torch that change what a step takes, as they are on this thread now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xleak import _native

# (what it is called, module, function that tells).
_MODES = (
    ("gradients", "torch", "is_grad_enabled"),
    ("inference mode", "torch", "is_inference_mode_enabled"),
    ("anomaly detection", "torch", "is_anomaly_enabled"),
    ("profiler", "torch.autograd", "_profiler_enabled"),
    ("deterministic algorithms", "torch", "are_deterministic_algorithms_enabled"),
    ("cudnn.benchmark", "torch._C", "_get_cudnn_benchmark"),
)
_AUTOCAST = ("cpu", "cuda", "xpu")


def mode_line() -> str:
    """One line, empty where torch is not imported. What this torch does not tell is left out."""
    modes = [*_known(), *_autocast()]
    if not modes:
        return ""
    on = ", ".join(name for name, is_on in modes if is_on) or "nothing"
    off = ", ".join(name for name, is_on in modes if not is_on) or "nothing"
    return f"torch has {on} on; {off} off"


def _known() -> Iterator[tuple[str, bool]]:
    for name, module, function in _MODES:
        if (ask := _function(module, function)) is not None:
            yield name, bool(ask())


def _autocast() -> Iterator[tuple[str, bool]]:
    ask, dtype = _function("torch", "is_autocast_enabled"), _function("torch", "get_autocast_dtype")
    if ask is None or dtype is None:
        return
    on = [device for device in _AUTOCAST if ask(device)]
    yield from ((f"autocast of {it} to {dtype(it)}".replace("torch.", ""), True) for it in on)
    if not on:
        yield "autocast", False


def _function(module: str, name: str) -> Any:
    return _native.fields_of_module(module).get(name)
