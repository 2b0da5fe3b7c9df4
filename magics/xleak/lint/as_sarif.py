"""The report in the Static Analysis Results Interchange Format 2.1.0 (an OASIS standard)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from xleak import __version__, _native
from xleak.explain import summary, title
from xleak.lint.found import Found, Report

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


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
    rules = [
        {
            "id": code,
            "name": smells[code].slug,
            "shortDescription": {"text": title(code)},
            "fullDescription": {"text": summary(code)},
            "defaultConfiguration": {"level": smells[code].severity},
        }
        for code in codes
    ]
    return {"name": "xleak", "semanticVersion": __version__, "rules": rules}


def _result(found: Found, codes: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": codes.index(found.code),
        "level": found.severity,
        "message": {"text": found.finding.message},
        "locations": [_location(found)],
    }
    return result


def _location(found: Found) -> dict[str, Any]:
    artifact = {"uri": quote(Path(found.path).as_posix())}
    if found.cell is None:
        region = {"startLine": found.line, "startColumn": found.column}
        return {"physicalLocation": {"artifactLocation": artifact, "region": region}}
    # Lines of a cell are not the lines of its file.
    name = f"cell {found.cell}, line {found.line}"
    return {
        "physicalLocation": {"artifactLocation": artifact},
        "logicalLocations": [{"name": name, "kind": "cell"}],
    }
