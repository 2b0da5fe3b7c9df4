"""The report in the Static Analysis Results Interchange Format 2.1.0 (an OASIS standard)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from xleak import __version__, _native
from xleak.explain import summary, title
from xleak.lint.found import INVALID_SYNTAX, Found, Report

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


_SYNTAX = {
    "id": INVALID_SYNTAX,
    "name": "invalid_syntax",
    "shortDescription": {"text": "Code that Python does not parse"},
    "fullDescription": {"text": "No rule: CPython's parser refuses the cell or the file."},
    "defaultConfiguration": {"level": "error"},
}


def sarif(report: Report) -> str:
    """One run; the rules are those that were told."""
    codes = sorted(report.counts())
    run: dict[str, Any] = {
        "tool": {"driver": _driver(codes)},
        "columnKind": "utf16CodeUnits",
        "invocations": [
            {
                "executionSuccessful": not report.problems,
                "toolExecutionNotifications": [
                    {"level": "error", "message": {"text": problem}} for problem in report.problems
                ],
            }
        ],
        "results": [_result(found, codes) for found in report.found],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _driver(codes: list[str]) -> dict[str, Any]:
    smells = {smell.code: smell for smell in _native.smells()}
    rules = [_rule(smells[code]) if code in smells else _SYNTAX for code in codes]
    return {"name": "xleak", "semanticVersion": __version__, "rules": rules}


def _rule(smell: _native.Smell) -> dict[str, Any]:
    return {
        "id": smell.code,
        "name": smell.slug,
        "shortDescription": {"text": title(smell.code)},
        "fullDescription": {"text": summary(smell.code)},
        "defaultConfiguration": {"level": smell.severity},
    }


def _result(found: Found, codes: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": codes.index(found.code),
        "level": found.severity,
        "message": {"text": found.message},
        "locations": [_location(found)],
    }
    return result


def _location(found: Found) -> dict[str, Any]:
    spot = found.spot
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(os.fsencode(Path(spot.path)))}}
    location: dict[str, Any] = {"physicalLocation": physical}
    name = f"cell {spot.cell}"
    if spot.in_notebook:
        # Lines of a cell are not the lines of its file.
        name += f", line {spot.line}"
    else:
        physical["region"] = {"startLine": spot.line, "startColumn": found.column}
    if spot.cell is not None:
        location["logicalLocations"] = [{"name": name, "kind": "cell"}]
    return location
