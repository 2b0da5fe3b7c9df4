"""What is told: the options of a command, and `[tool.xleak]` of pyproject.toml."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from xleak import _native
from xleak.cli.problem import Problem

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_KEYS = ("select", "ignore", "per-file-ignores")


@dataclass(frozen=True)
class Settings:
    """Rules by the start of their code: "XL2" is all that begin so."""

    select: tuple[str, ...] = ("XL",)
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By a pattern of paths, from the folder that `base` is."""
    base: Path = field(default_factory=Path)

    def tells(self, code: str, path: str) -> bool:
        """Whether findings of this rule in this file are told."""
        if not code.startswith(self.select) or code.startswith(self.ignore or ("-",)):
            return False
        return not any(
            code.startswith(codes) and self._matches(path, pattern)
            for pattern, codes in self.per_file_ignores.items()
        )

    def _matches(self, path: str, pattern: str) -> bool:
        file = Path(path).absolute()
        if fnmatch(file.name, pattern):
            return True
        base = self.base.absolute()
        return file.is_relative_to(base) and fnmatch(str(file.relative_to(base)), pattern)


def read(
    select: str | None, ignore: str | None, per_file_ignores: Sequence[str] | None
) -> Settings:
    """The settings of the project that the working folder is in, with those of the command line
    in their place. Raises Problem."""
    project, base = _of_project()
    patterns = project.get("per-file-ignores", {})
    if per_file_ignores:
        patterns = dict(_pattern(option) for option in per_file_ignores)
    return Settings(
        _codes("select", select or project.get("select", "XL")),
        _codes("ignore", ignore or project.get("ignore", ())),
        {pattern: _codes("per-file-ignores", codes) for pattern, codes in patterns.items()},
        base,
    )


def _of_project() -> tuple[dict[str, Any], Path]:
    here = Path.cwd()
    for folder in (here, *here.parents):
        file = folder / "pyproject.toml"
        if file.is_file():
            return _table(file), folder
    return {}, here


def _table(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            tools = tomllib.load(stream).get("tool", {})
    except (OSError, ValueError) as broken:
        raise Problem(f"cannot read {file}: {broken}. Mend it, or run from elsewhere.") from None
    except RecursionError:
        raise Problem(
            f"cannot read {file}: it is nested too deeply. Mend it, or run from elsewhere."
        ) from None
    table = tools.get("xleak", {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        raise Problem(f"[tool.xleak] of {file} is no table.")
    if unknown := [key for key in table if key not in _KEYS]:
        raise Problem(f"{file}: [tool.xleak] knows {', '.join(_KEYS)}, not {unknown[0]!r}.")
    if not isinstance(table.get("per-file-ignores", {}), dict):
        raise Problem(f"{file}: per-file-ignores is a table of patterns and their codes.")
    return table


def _pattern(option: str) -> tuple[str, str]:
    pattern, colon, codes = option.rpartition(":")
    if not colon or not pattern or not codes:
        raise Problem(f"--per-file-ignores takes PATTERN:CODES, got {option!r}.")
    return pattern, codes


def _codes(option: str, given: object) -> tuple[str, ...]:
    listed = given.split(",") if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not all(isinstance(it, str) for it in listed):
        raise Problem(f"{option} takes codes such as XL203 or XL2, got {given!r}.")
    codes = tuple(code.strip().upper() for code in listed if code.strip())
    known = [smell.code for smell in _native.smells()]
    for code in codes:
        if not any(it.startswith(code) for it in known):
            raise Problem(f"{option}: there is no rule {code!r}. `xleak rules` lists them.")
    return codes
