"""Files that come with the package: in it once installed, elsewhere in a working tree."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent
_TREE = _PACKAGE.parent.parent


def smells() -> Path:
    """The folder with one folder a smell."""
    return _first(_PACKAGE / "smells", _TREE / "monitor" / "smells")


def kernelspec() -> Path:
    """The folder with the kernel's logos."""
    return _first(_PACKAGE / "kernelspec", _TREE / "share" / "jupyter" / "kernels" / "xleak")


def torch_sources() -> Path:
    """The folder with the C++ sources of the module for torch."""
    return _first(_PACKAGE / "torch_sources", _TREE / "monitor" / "torch")


def style(name: str) -> str:
    """The text of a style sheet of the reports."""
    return (_PACKAGE / "render" / name).read_text(encoding="utf-8")


def _first(installed: Path, in_tree: Path) -> Path:
    return installed if installed.is_dir() else in_tree
