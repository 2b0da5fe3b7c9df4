"""`xleak lint`: arguments to a report and a code."""

from __future__ import annotations

import argparse
import os
import sys

from xleak.cli import output
from xleak.lint import files, found, settings
from xleak.verdict import SEVERITIES

CLEAN, FOUND, UNREADABLE = 0, 1, 2


def lint(arguments: argparse.Namespace) -> int:
    """Reads the files and prints what they say. Returns one of the codes that --help lists."""
    told = settings.read(arguments.select, arguments.ignore, arguments.per_file_ignores)
    paths = files.found(arguments.paths)
    report = found.look(paths, told, arguments.jobs or os.cpu_count() or 1, arguments.notes)
    for problem in report.problems:
        output.say(problem)
    text = _formatted(report, arguments, sys.stdout.isatty())
    with output.to_stdout() as stream:
        print(text, file=stream)
    if any(_counts(it.severity, arguments.fail_on) for it in report.found):
        return FOUND
    return UNREADABLE if report.problems else CLEAN


def _formatted(report: found.Report, arguments: argparse.Namespace, terminal: bool) -> str:
    from xleak.lint import as_text

    if arguments.statistics:
        return as_text.statistics(report)
    if arguments.format == "text":
        return as_text.text(report, terminal and "NO_COLOR" not in os.environ)
    if arguments.format == "json":
        from xleak.lint.as_json import as_json

        return as_json(report)
    if arguments.format == "sarif":
        from xleak.lint.as_sarif import sarif

        return sarif(report)
    from xleak.lint.as_github import github

    return github(report)


def _counts(severity: str, fail_on: str) -> bool:
    return fail_on != "never" and SEVERITIES.index(severity) <= SEVERITIES.index(fail_on)
