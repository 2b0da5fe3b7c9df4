"""A recursion limit of the program's that leaves xleak no room."""

from __future__ import annotations

import pytest
from both_ways import WAYS, session_of
from harness import Ran, Session

# At 36 IPython shows no value any more, at 60 it does.
LIMITS = [36, 45, 60]
# Not much less than this is refused by Python itself in a cell.
LEAST = 30
NO_ROOM = "leaves no room for this magic; sys.setrecursionlimit() raises it."
PLAIN = [
    "x = 1",
    "for it in range(3): x += it",
    "value = bytearray(40 << 20)\nmemoryview(value);",
    "del value",
    "other = bytearray(40 << 20)",
]
# What IPython may have no room to show.
SHOWING = ["memoryview(other)", "1 / 0", "x"]
MAGICS = [
    "%memreport",
    "%leakcheck",
    "%release_cache",
    "%xdel other",
    "%xleak env",
    "%xleak journal",
]
# IPython writes it where an error of its own listeners, or of a magic, cannot be shown.
OF_A_TRACEBACK = (
    "Traceback (most",
    "Error in callback",
    "Unexpected exception",
    "xleak failed",
    "/xleak/",
)


def output_of(ran: Ran) -> str:
    """All that is to be read under a cell."""
    errors = ["\n".join(it["traceback"]) for it in ran.of("error")]
    shown = [str(it["data"]) for it in ran.of("display_data")]
    return "\n".join([ran.text(), ran.text("stderr"), *errors, *shown])


def limited(session: Session, limit: int) -> None:
    session.run(f"import sys; sys.setrecursionlimit({limit})")


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("way", WAYS)
def test_cells_run_without_a_word_of_xleak_s(way: str, limit: int) -> None:
    with session_of(way) as session:
        limited(session, limit)
        for cell in PLAIN:
            ran = session.run(cell)
            assert ran.content["status"] == "ok"
            assert not [it for it in OF_A_TRACEBACK if it in output_of(ran)]
        for cell in SHOWING:
            assert not [
                it for it in ("/xleak/", "xleak failed") if it in output_of(session.run(cell))
            ]
        assert session.run("sys.setrecursionlimit(1000)").content["status"] == "ok"


@pytest.mark.parametrize("way", WAYS)
def test_the_least_limit_that_python_allows_ends_no_kernel(way: str) -> None:
    with session_of(way) as session:
        for code in (f"import sys; sys.setrecursionlimit({LEAST})", "x = 1"):
            ran = session.run(code)
            assert ran.content["status"] == "ok"
            assert output_of(ran).strip() == ""


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("way", WAYS)
def test_a_magic_answers_or_says_in_one_sentence_that_it_cannot(way: str, limit: int) -> None:
    with session_of(way) as session:
        limited(session, limit)
        for cell in PLAIN:
            session.run(cell)
        refused = 0
        for magic in MAGICS:
            ran = session.run(magic)
            assert not [it for it in OF_A_TRACEBACK if it in output_of(ran)]
            if ran.content["status"] == "error":
                assert ran.text("stderr").rstrip().endswith(NO_ROOM)
                refused += 1
        if limit == min(LIMITS):
            assert refused


@pytest.mark.parametrize("way", WAYS)
def test_a_marked_cell_says_that_its_report_is_missing(way: str) -> None:
    with session_of(way) as session:
        limited(session, min(LIMITS))
        ran = session.run("%%leakcheck\nlarge = bytearray(20 << 20)")
        assert ran.content["status"] == "ok"
        assert "leaves no room for the report on this cell" in ran.text("stderr")


@pytest.mark.parametrize("way", WAYS)
def test_once_the_limit_is_raised_all_is_reported_again(way: str) -> None:
    with session_of(way) as session:
        limited(session, min(LIMITS))
        session.run("value = bytearray(40 << 20)")
        session.run("%leakcheck")
        session.run("sys.setrecursionlimit(1000)")
        shown = session.run("memoryview(value)")
        session.run("del value")
        assert f"Out[{shown.content['execution_count']}]" in session.findings()
        for magic in MAGICS[:-3]:
            ran = session.run(magic)
            assert ran.content["status"] == "ok"


@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_recurses_too_deep_has_its_own_error_alone(way: str) -> None:
    with session_of(way) as session:
        ran = session.run("def deep(n): return deep(n + 1)\ndeep(0)")
        assert ran.content["ename"] == "RecursionError"
        assert "/xleak/" not in output_of(ran)
        assert session.run("%leakcheck").text("stderr") == ""
