"""The examples beside the schema say what it accepts and what it must refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from xleak import verdict

COMM = Path(__file__).parents[2] / "share" / "comm"
SCHEMA: dict[str, Any] = json.loads((COMM / "verdict.v1.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
VALID = sorted((COMM / "examples" / "valid").glob("*.json"))
INVALID = sorted((COMM / "examples" / "invalid").glob("*.json"))


def test_the_schema_is_itself_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_is_of_the_version_that_the_package_writes() -> None:
    assert SCHEMA["properties"]["schema"]["const"] == verdict.SCHEMA


@pytest.mark.parametrize("example", VALID, ids=lambda path: path.stem)
def test_a_valid_example_is_accepted(example: Path) -> None:
    VALIDATOR.validate(json.loads(example.read_text()))


@pytest.mark.parametrize("example", INVALID, ids=lambda path: path.stem)
def test_an_invalid_example_is_refused(example: Path) -> None:
    assert not VALIDATOR.is_valid(json.loads(example.read_text()))


def test_what_the_package_reads_and_writes_again_is_still_valid() -> None:
    shape = json.loads((COMM / "examples" / "valid" / "leak_and_failure.json").read_text())
    again = verdict.to_json(verdict.from_json(shape))
    VALIDATOR.validate(again)
    assert again["cells"] == shape["cells"]
    assert again["summary"] == shape["summary"]
    assert again["devices"] == shape["devices"]


def test_fields_that_a_later_version_added_do_not_stop_the_reader() -> None:
    shape = json.loads((COMM / "examples" / "valid" / "fields_added_later.json").read_text())
    assert verdict.from_json(shape).cells == []


def test_a_verdict_of_another_version_is_refused_with_its_name() -> None:
    shape = json.loads((COMM / "examples" / "invalid" / "another_version.json").read_text())
    with pytest.raises(ValueError, match=r"xleak\.verdict/2"):
        verdict.from_json(shape)
