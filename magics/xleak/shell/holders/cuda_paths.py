"""Installations of CUDA that the variables of the environment and the mapped libraries tell of."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.originals import os
from xleak.shell.fields import fields_of
from xleak.shell.holders.frameworks import ON_CUDA
from xleak.shell.holders.look import Look

# Where frameworks, and compilers on their behalf, look for it.
_VARIABLES = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "PATH", "LD_LIBRARY_PATH")
# `/usr/local/cuda-11.8/bin`, `/opt/cuda/11.8`
_FOLDER = re.compile(r"cuda[-/](\d+)\.\d+(?:\.\d+)*(?=/|$)", re.IGNORECASE)
_LIBRARY = re.compile(r"/(libcudart|libcudnn)\.so\.(\d+)[^/]*$")
# A wheel brings libraries of its own, which the variables do not decide about.
_OF_WHEELS = re.compile(r"/(?:site|dist)-packages/")

# (where it says so, the major version)
_Sign = tuple[str, str]


class CudaPaths:
    """Told as long as two major versions are named, where there is a framework."""

    def __init__(self) -> None:
        self._state: object = None
        self._signs: list[_Sign] = []
        self._since: dict[str, int] = {}

    def after_cell(self, cell: int) -> bool:
        """Whether what is named changed for the better or the worse."""
        frameworks = sum(name in sys.modules for name in ON_CUDA)
        state = frameworks, _variables()
        if state == self._state:
            return False
        self._state = state
        before, self._signs = self._signs, _mixed()
        self._since = {label: self._since.get(label, cell) for label in [_label(self._signs)]}
        return self._signs != before

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for the process."""
        if self._signs:
            label = _label(self._signs)
            majors = sorted({major for _, major in self._signs}, key=int)
            since = self._since.get(label)
            named = " and ".join(majors)
            yield _native.Holder("CUDA paths", label, 0, since, named, len(majors), "")


def _label(signs: list[_Sign]) -> str:
    return ", ".join(f"{where} {major}" for where, major in signs)


def _variables() -> tuple[str | None, ...]:
    """The values as the process has them, past what may stand in for os.environ."""
    environment: Any = os.__dict__.get("environ")
    data = fields_of(environment).get("_data") if type(environment) is os._Environ else None
    held = {key: it for key, it in _native.items_of(data) if type(key) is bytes}
    values = [held.get(name.encode()) for name in _VARIABLES]
    return tuple(os.fsdecode(it) if type(it) is bytes else None for it in values)


def _mixed() -> list[_Sign]:
    """All signs of CUDA itself where they disagree, or those of one library mapped twice."""
    named = list(_named_by_variables())
    libraries = _mapped()
    for name in ("libcudart", "libcudnn"):
        mapped: list[_Sign] = sorted(
            {(name, major) for found, major, _ in libraries if found == name}
        )
        if len(mapped) > 1:
            return mapped
    installed = [major for name, major, wheels in libraries if name == "libcudart" and not wheels]
    named += [("libcudart", major) for major in installed]
    named += [("torch", major) for major in _built_for() if installed]
    return named if len({major for _, major in named}) > 1 else []


def _named_by_variables() -> Iterator[_Sign]:
    for name, value in zip(_VARIABLES, _variables(), strict=True):
        # The first of a list of folders is the one that counts.
        found = _FOLDER.search(value) if value else None
        if found:
            yield name, found[1]


def _built_for() -> list[str]:
    """The major version that torch was built for."""
    version = _native.fields_of_module("torch.version").get("cuda")
    return [version.partition(".")[0]] if type(version) is str else []


def _mapped() -> set[tuple[str, str, bool]]:
    """(library, major version, whether it is a wheel's) of those of CUDA in this process."""
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.rstrip("\n").partition("/")[2] for line in maps if "libcud" in line}
    except OSError:
        return set()
    found = [(_LIBRARY.search(f"/{path}"), path) for path in paths]
    return {(it[1], it[2], bool(_OF_WHEELS.search(f"/{path}"))) for it, path in found if it}
