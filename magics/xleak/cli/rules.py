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
    smells = sorted(_native.smells(), key=lambda smell: smell.code)
    with output.to_stdout() as stream:
        if arguments.format == "json":
            print(json.dumps([_row(smell) for smell in smells], indent=2), file=stream)
        else:
            for smell in smells:
                row = _row(smell)
                print(
                    f"{row['code']}  {row['severity']:7}  {row['known']:16}  {row['title']}",
                    file=stream,
                )
    return 0


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
