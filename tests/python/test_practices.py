"""docs/practices.md names what there is."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import xleak
from IPython.core.interactiveshell import InteractiveShell
from shells import Session
from xleak import _native
from xleak.cli import main
from xleak.magics.xleak_magic import _SUBCOMMANDS

DOCS = Path(__file__).parents[2] / "docs"
SECTIONS: dict[str, list[Any]] = runpy.run_path(str(DOCS / "practices.py"))["SECTIONS"]
ROWS = [row for rows in SECTIONS.values() for row in rows]
COMMANDS = sorted({it for row in ROWS for it in row.commands.split(", ") if it})


def test_the_page_is_as_make_docs_would_write_it() -> None:
    pages = runpy.run_path(str(DOCS / "make.py"))["PAGES"]
    assert (DOCS / "practices.md").read_text() == pages["practices.md"]()


def test_every_practice_of_the_study_has_its_row() -> None:
    numbers = [row.name.partition(" ")[0] for row in SECTIONS["Best practices of the study"]]
    assert numbers == [str(number) for number in range(1, 52)]


def test_every_practice_of_the_study_has_a_rule() -> None:
    assert [row.name for row in SECTIONS["Best practices of the study"] if not row.rules] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_is_answered_by_rules_that_there_are_or_says_how(row: Any) -> None:
    known = {smell.code for smell in _native.smells()}
    assert set(row.rules.split()) <= known
    assert row.rules or row.commands or row.says
    assert "|" not in "".join(row)


def _help_of(command: str, shell: InteractiveShell) -> str | None:
    """What help says of a command's first word; None where there is none such."""
    name, _, rest = command.partition(" ")
    if name == "%xleak":
        module = _SUBCOMMANDS.get(rest.partition(" ")[0])
        return None if module is None else " ".join(module.HELP)
    kind = "cell" if name.startswith("%%") else "line"
    magic = shell.find_magic(name.lstrip("%"), kind)
    return None if magic is None else str(magic.__doc__)


@pytest.mark.parametrize("command", [it for it in COMMANDS if it.startswith("%")])
def test_a_magic_is_there_and_its_help_has_the_option(command: str, session: Session) -> None:
    told = _help_of(command, session.shell)
    assert told is not None
    for option in re.findall(r"--[\w-]+", command):
        assert option in told


@pytest.mark.parametrize("command", [it for it in COMMANDS if not it.startswith("%")])
def test_a_command_or_a_function_is_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    if command.startswith("xleak."):
        assert hasattr(xleak, command.partition(".")[2])
        return
    assert main([command.split()[1], "--help"]) == 0
    assert f"usage: {command}" in capsys.readouterr().out
