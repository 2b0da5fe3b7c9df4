"""The report as annotations of a pull request on GitHub (its workflow commands)."""

from __future__ import annotations

from xleak.lint.found import Found, Report
from xleak.render.table import printable

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def github(report: Report) -> str:
    """One workflow command a finding."""
    return "\n".join(_command(found) for found in report.found)


def _command(found: Found) -> str:
    spot = found.spot
    properties = {"file": spot.path, "title": f"{found.code} {found.slug}"}
    message = found.message
    if spot.in_notebook:
        # Lines of a cell are not the lines of its file.
        message = f"cell {spot.cell}, line {spot.line}: {message}"
    else:
        properties |= {"line": str(spot.line), "col": str(found.column)}
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[found.severity]} {told}::{_data(message)}"


def _data(text: str) -> str:
    # Of all that drives a terminal, GitHub has a spelling for the ends of lines alone.
    lines = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return printable(lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
