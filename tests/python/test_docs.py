"""Pages that are made from the folders say what the folders say."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from xleak import _native
from xleak.cli import main

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["rules.md", "coverage.md"])
def test_a_page_is_as_make_docs_would_write_it(name: str) -> None:
    pages = runpy.run_path(str(DOCS / "make.py"))["PAGES"]
    assert (DOCS / name).read_text() == pages[name]()


def test_the_list_of_rules_has_every_code_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["code"] for row in rows] == sorted(smell.code for smell in _native.smells())
    assert all(row["title"] != row["code"] for row in rows)
    assert main(["rules"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(rows)
