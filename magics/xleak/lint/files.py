"""Which files are linted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from xleak.cli.problem import Problem

SUFFIXES = (".ipynb", ".py")
# What others wrote, what tools made, and copies of notebooks.
_SKIPPED = frozenset(
    ("__pycache__", "build", "dist", "node_modules", "site-packages", "venv", "virtual_documents")
)


def found(paths: Iterable[str]) -> list[str]:
    """Files that are named, and notebooks and scripts below folders that are, each once.

    Raises Problem for what is not there.
    """
    files: dict[str, None] = {}
    for name in paths:
        if not os.path.lexists(name):
            raise Problem(f"there is no {name}. Nothing was linted; check the name.")
        if os.path.isdir(name):
            files.update(dict.fromkeys(_below(name)))
        else:
            files[name] = None
    return list(files)


def _below(folder: str) -> Iterator[str]:
    # Links to folders are not followed: they may lead round in a circle.
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(it for it in folders if it not in _SKIPPED and not it.startswith("."))
        yield from (
            os.path.join(place, name)
            for name in sorted(names)
            if name.endswith(SUFFIXES) and not name.startswith(".")
        )


def shown(path: str) -> str:
    """The path as the user would type it from here."""
    absolute, here = Path(path).absolute(), Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else path
