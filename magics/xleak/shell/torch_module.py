"""Finds xleak's module for torch, and loads it only where it was built for the torch that runs."""

from __future__ import annotations

import importlib.util
import stat
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

from xleak import __version__, _native
from xleak.originals import os

NAME = "xleak._torch"
OLDEST = (2, 4)
# What no one knows where the module is missing.
COLUMNS = "tensor memory per cell, the cell that made a tensor, and what an autograd graph keeps"

_PACKAGE = Path(__file__).parent.parent

# Why it could not be had, "" where it could; None until it was tried.
_outcome: str | None = None


def load() -> bool:
    """Whether `from xleak import _torch` gives a module for the torch that is imported.

    False where torch is not imported, or no module was built for it. Never raises.
    """
    global _outcome
    torch = sys.modules.get("torch")
    # Something else may stand there, and while torch imports itself it is not all there.
    if type(torch) is not ModuleType or getattr(vars(torch).get("__spec__"), "_initializing", True):
        return False
    if _outcome is None:
        try:
            _outcome = _attempt(torch)
        except Exception as error:
            _outcome = _unknown(f"its module for torch failed ({error})")
    return not _outcome


def why_missing() -> str | None:
    """One sentence on what is not known and what to do; None where the module is there, or torch
    is not imported."""
    load()
    return _outcome or None


def key_of(torch: ModuleType) -> str:
    """What a module is built for: torch's version and C++ ABI, and the Python."""
    abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    return f"{torch.__version__}-cxx11abi{abi}-{sys.implementation.cache_tag}"


def built_path(key: str) -> Path:
    """Where `xleak build-torch` leaves the module for such a torch."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    # An older xleak's module may lack what this one asks of it.
    return Path(home) / "xleak" / __version__ / "torch" / key / "_torch.so"


def find(torch: ModuleType) -> Path | None:
    """The module for this torch: the one that came with xleak, else one that was built."""
    key = key_of(torch)
    packaged, built = _packaged(key), built_path(key)
    if packaged is not None:
        return packaged
    return built if built.is_file() and not is_open_to_others(built) else None


def is_open_to_others(built: Path) -> bool:
    """Whether another user could have put there what built_path() names: it is code that would run as this one."""
    # Up to the folder that is xleak's own: the user chose where that lies.
    for place in (built, *built.parents[:4]):
        if not place.exists():
            continue
        found = place.stat()
        owners = {found.st_uid, place.lstat().st_uid}
        if not owners <= {os.geteuid(), 0} or found.st_mode & stat.S_IWOTH:
            return True
    return False


def is_too_old(torch: ModuleType) -> bool:
    """Whether no module can be built for this torch."""
    parts = str(torch.__version__).split(".")
    return tuple(int(part) for part in parts[:2] if part.isdigit()) < OLDEST


def _attempt(torch: ModuleType) -> str:
    if is_too_old(torch):
        return f"{COLUMNS} are unknown: torch {torch.__version__} is older than 2.4."
    found = find(torch)
    built = built_path(key_of(torch))
    if found is None and is_open_to_others(built):
        return (
            f"{COLUMNS} are unknown: another user could have put {built} there. Point XDG_CACHE_HOME at a "
            "folder of yours, and build it with: xleak build-torch"
        )
    if found is None:
        return _unknown(f"xleak has no module for torch {torch.__version__}")
    module = _import_from(found)
    _native.read_devices_by(module.device_reader())
    return ""


def _unknown(reason: str) -> str:
    return f"{COLUMNS} are unknown: {reason}. Build it with: xleak build-torch"


def _packaged(key: str) -> Path | None:
    """The module that came with xleak, where it was built for this torch."""
    mark = _PACKAGE / "_torch.built_for"
    if not mark.is_file() or mark.read_text().strip() != key:
        return None
    found = (_PACKAGE / f"_torch{suffix}" for suffix in EXTENSION_SUFFIXES)
    return next((path for path in found if path.is_file()), None)


def _import_from(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(NAME, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no extension module")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    # As an import statement leaves it, so that the next one costs nothing.
    sys.modules[NAME] = loaded
    vars(sys.modules["xleak"])["_torch"] = loaded
    return loaded
