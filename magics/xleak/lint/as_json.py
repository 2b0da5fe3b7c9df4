"""The report as `xleak.lint/1`; its schema is share/comm/lint.v1.schema.json."""

from __future__ import annotations

import json
from typing import Any

from xleak import __version__, _native
from xleak.lint.found import Found, Report


def as_json(report: Report) -> str:
    """Findings have the fields of `xleak.verdict/1`, and their place in the file."""
    severities = [found.severity for found in report.found]
    document = {
        "schema": "xleak.lint/1",
        "version": __version__,
        "files": report.files,
        "findings": [_finding(found) for found in report.found],
        "unused_ignores": [
            {"path": it.spot.path, "cell": it.spot.cell, "line": it.spot.line, "text": it.text}
            for it in report.unused
        ],
        "problems": report.problems,
        "summary": {name: severities.count(name) for name in ("error", "warning", "note")},
    }
    return json.dumps(document, indent=2)


def _finding(found: Found) -> dict[str, Any]:
    return {
        "path": found.spot.path,
        "code": found.code,
        "slug": found.slug,
        "severity": found.severity,
        "basis": "source",
        "cell": found.spot.cell,
        "line": found.spot.line,
        "column": found.column,
        "message": found.message,
        "fixes": [_fix(fix) for fix in found.fixes],
    }


def _fix(fix: _native.Fix) -> dict[str, Any]:
    return {
        "kind": "edit",
        "title": fix.title,
        "safe": fix.safe,
        "edits": [
            {"cell": it.cell, "start": it.start, "stop": it.stop, "text": it.text}
            for it in fix.edits
        ],
    }
