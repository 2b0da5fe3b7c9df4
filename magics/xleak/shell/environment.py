"""What of the process's surroundings decides about memory: libraries, CUDA, allocators, limits. Neither paths
nor anything else that a variable may hide."""

from __future__ import annotations

import re
import resource
from typing import Any

from xleak import _native
from xleak.originals import os
from xleak.shell.other_processes import nvml
from xleak.shell.readings import device_readings

_LIBRARIES = (
    "numpy",
    "pandas",
    "tensorflow",
    "keras",
    "jax",
    "cupy",
    "torchvision",
    "lightning",
    "pytorch_lightning",
    "transformers",
    "accelerate",
    "sklearn",
)
# Variables that allocators and frameworks read.
_SETTINGS = (
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_ALLOCATOR",
    "XLA_PYTHON_CLIENT_PREALLOCATE",
    "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "MALLOC_ARENA_MAX",
    "MALLOC_TRIM_THRESHOLD_",
    "PYTHONMALLOC",
    "OMP_NUM_THREADS",
    "LD_PRELOAD",
)
# Any other value may be a path or worse.
_SHOWN = re.compile(r"[\w.,:\[\]>= -]{0,120}")
_LIMITS = {"address space": resource.RLIMIT_AS, "data": resource.RLIMIT_DATA}


def libraries() -> dict[str, str]:
    """Versions of the libraries that the process has loaded, by the name of their module."""
    found = {name: _field(name, "__version__") for name in _LIBRARIES}
    return {name: version for name, version in found.items() if type(version) is str}


def cuda_versions() -> dict[str, str]:
    """The versions of CUDA that the frameworks were built for, and the latest that the driver knows."""
    build = _field("tensorflow.python.platform.build_info", "build_info")
    found = {
        "torch": _field("torch.version", "cuda"),
        "tensorflow": _native.value_at(build, "cuda_version"),
        "driver": _driver(),
    }
    return {name: version for name, version in found.items() if type(version) is str and version}


def mismatches(versions: dict[str, str]) -> list[str]:
    """What cannot work together, a sentence each. versions: of cuda_versions()."""
    majors = {
        name: int(found[0]) for name, it in versions.items() if (found := re.match(r"\d+", it))
    }
    driver = majors.pop("driver", None)
    told = [
        f"{name} was built for CUDA {versions[name]}, the driver ends at {versions['driver']}"
        for name, major in majors.items()
        if driver is not None and major > driver
    ]
    if len(set(majors.values())) > 1:
        built = " and ".join(f"{name} for {versions[name]}" for name in majors)
        told.append(f"built for different versions of CUDA: {built}")
    return told


def settings() -> dict[str, str]:
    """The variables that are set, by name; "set" where the value is not for showing."""
    found = {name: os.environ.get(name) for name in _SETTINGS}
    return {
        name: value if _SHOWN.fullmatch(value) else "set"
        for name, value in found.items()
        if value is not None
    }


def limits() -> dict[str, int]:
    """Limits of the process in bytes, by name; without those that are not set."""
    found = {name: resource.getrlimit(limit)[0] for name, limit in _LIMITS.items()}
    return {name: size for name, size in found.items() if size != resource.RLIM_INFINITY}


def _driver() -> str | None:
    if not any(it.device.startswith("cuda:") for it in device_readings()):
        return None
    try:
        with nvml() as library:
            number = int(library.nvmlSystemGetCudaDriverVersion_v2())
    except Exception:
        return None  # No package, no driver, or one that does not tell.
    return f"{number // 1000}.{number % 1000 // 10}"


def _field(module: str, name: str) -> Any:
    """An attribute that stands in a loaded module itself; None without it."""
    return _native.fields_of_module(module).get(name)
