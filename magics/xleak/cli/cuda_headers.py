"""Where the headers of CUDA's runtime are, which the exact peaks of devices are built with."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

# What torch's own headers include, and what these include in turn.
_NEEDED = ("cuda.h", "cuda_runtime_api.h", "crt/host_config.h", "crt/host_defines.h")

MISSING = (
    "Peaks of CUDA devices are exact only with the headers of the CUDA that torch was built for, and "
    "they were not found: install that CUDA toolkit, set CUDA_HOME and run xleak build-torch --force."
)


def folders(torch: ModuleType) -> list[Path]:
    """Folders to include: the toolkit's, or those of NVIDIA's packages beside torch.

    Empty where torch was not built for CUDA, where a header is missing, and where they are those of
    another CUDA.
    """
    from torch.utils import cpp_extension

    if not torch.version.cuda:
        return []
    packages = Path(str(torch.__file__)).parent.parent / "nvidia"
    places = [sorted(packages.glob("*/include"))]
    if cpp_extension.CUDA_HOME:
        places.insert(0, [Path(cpp_extension.CUDA_HOME) / "include"])
    return next((place for place in places if _fits(place, torch.version.cuda)), [])


def _fits(place: list[Path], version: str) -> bool:
    found = [path for name in _NEEDED if (path := _find(name, place)) is not None]
    if len(found) < len(_NEEDED):
        return False
    text = found[0].read_text(errors="replace")
    said = re.search(r"^#define CUDA_VERSION (\d+)\d{3}$", text, re.MULTILINE)
    return said is not None and said[1] == version.split(".")[0]


def _find(name: str, place: list[Path]) -> Path | None:
    return next((folder / name for folder in place if (folder / name).is_file()), None)
