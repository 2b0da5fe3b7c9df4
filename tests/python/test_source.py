"""Cells are parsed as the user wrote them, and nobody notices."""

from __future__ import annotations

import ast
import warnings

import pytest
from xleak.shell.source import parsed


def test_magics_are_calls() -> None:
    tree = parsed("%time step()\n!ls")
    assert tree is not None
    assert "run_line_magic" in ast.unparse(tree)


@pytest.mark.parametrize("source", ["x = (", "\x00", "(" * 5000, "-" * 20_000 + "1"])
def test_what_is_not_python_is_none(source: str) -> None:
    assert parsed(source) is None


def test_a_doubtful_escape_warns_nobody_twice(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        assert parsed(r"pattern = '\d'") is not None
        assert warnings.filters == before
    assert shown == []
    assert capfd.readouterr().err == ""


def test_python_remembers_which_warnings_it_has_shown() -> None:
    registry: dict[str | tuple[str, type[Warning], int], int] = {}

    def warn() -> None:
        warnings.warn_explicit("old", UserWarning, "cell", 1, registry=registry)

    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        warn()
        parsed(r"other = '\w'")
        warn()
    assert len(shown) == 1
