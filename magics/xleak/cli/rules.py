"""`xleak rules`: the list of what xleak knows."""

from __future__ import annotations

import argparse
import json

from xleak import _native
from xleak.cli import output
from xleak.explain import kind, title

_HALVES = {(True, True): "source, measured", (True, False): "source", (False, True): "measured"}


def rules(arguments: argparse.Namespace) -> int:
    """Prints one line a rule, in the order of their codes."""
    rows = [_row(smell) for smell in sorted(_native.smells(), key=lambda smell: smell.code)]
    text = json.dumps(rows, indent=2) if arguments.format == "json" else _table(rows)
    with output.to_stdout() as stream:
        print(text, file=stream)
    return 0


def _table(rows: list[dict[str, object]]) -> str:
    return "\n".join(
        f"{row['code']}  {row['severity']:7}  {row['known']:16}  {row['title']}" for row in rows
    )


def _row(smell: _native.Smell) -> dict[str, object]:
    about = kind(smell.code)
    return {
        "code": smell.code,
        "slug": smell.slug,
        "severity": smell.severity,
        "known": _HALVES[smell.in_source, smell.at_run_time],
        "title": title(smell.code),
        "category": about.category,
        "scope": about.scope,
        "effect": about.effect,
        "twins": list(about.twins),
    }
