"""Which variables of a function that waits it never reads again."""

from __future__ import annotations

import dis
from typing import Any

import pytest
from xleak.shell.waiting import unread_at

LOOP = "while True:\n        job = wait()\n        rows = load(job)\n        {0}"


@pytest.mark.parametrize(
    ("body", "unread"),
    [
        (LOOP.format("show(rows)"), {"job", "rows"}),
        (LOOP.format("show(job, rows)\n        last = rows"), {"job", "rows", "last"}),
        ("last = None\n    " + LOOP.format("show(last)\n        last = rows"), {"job", "rows"}),
        (
            "rows = None\n    " + LOOP.format("").replace("rows = load", "rows = rows or load"),
            {"job"},
        ),
        ("rows = load()\n    try:\n        wait()\n    except OSError:\n        show(rows)", set()),
        ("rows = load()\n    wait()\n    return locals()", set()),
        ("rows = load()\n    wait()\n    return lambda: rows", set()),
        ("rows = load()\n    wait()\n    if job(): show(rows)", set()),
        ("rows = load()\n    show(rows)\n    wait()", {"rows"}),
        ("for rows in load():\n        wait()", {"rows"}),
        ("for rows in load():\n        wait()\n    return rows", {}),
    ],
)
def test_a_variable_is_unread_where_no_way_reads_it_first(body: str, unread: set[str]) -> None:
    made: dict[str, Any] = {}
    exec(f"def run():\n    {body}", made)
    code = made["run"].__code__
    called = False
    for step in dis.get_instructions(code):
        called = called or step.argval == "wait"
        if called and step.opname == "CALL":
            assert unread_at(code, step.offset) == set(unread)
            return
    raise AssertionError("nothing waits")
