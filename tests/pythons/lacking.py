"""A pytest plugin: a test that fails because a module is missing that the run leaves out is skipped.

`-p lacking --without torch` says which. Whether a test needs it is seen when it runs, in the cells and the
processes that it starts too: what it shows names the module that was not found.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

import pytest

_NOT_FOUND = re.compile(r"No module named '?([\w.]+)")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--without", action="append", default=[], metavar="MODULE", help="a module that is not here"
    )


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if report.failed and (module := _wanted(collector.config, str(report.longrepr))):
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, f"needs {module}")
        # pytest would show its error all the same.
        report.result = []
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        shown = "\n".join([report.longreprtext, *(text for _, text in report.sections)])
        if module := _wanted(item.config, shown):
            path, line, _ = item.location
            report.outcome = "skipped"
            report.longrepr = (path, (line or 0) + 1, f"needs {module}")
    return report


def _wanted(config: pytest.Config, shown: str) -> str | None:
    """The module that was not found, where it is one of those that the run leaves out."""
    without = config.getoption("--without")
    for name in _NOT_FOUND.findall(shown):
        for module in without:
            if name == module or name.startswith(module + "."):
                return str(module)
    return None
