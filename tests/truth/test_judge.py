"""What counts as found, and what of it as right."""

from pathlib import Path
from typing import Any

import cases
import pytest
import totals
from judge import Judged, judge
from test_cases import LEAKING, written

CLEAN = LEAKING[: LEAKING.index("# leaked")] + LEAKING[LEAKING.index("# ///\n# %%") :]


def finding(**changed: Any) -> dict[str, Any]:
    right = {
        "code": "XL000",
        "severity": "warning",
        "cell": 2,
        "cause_cell": 2,
        "line": 3,
        "bytes": 8_000_000,
        "name": None,
        "holders": ["log[0]"],
        "path": [],
        "message": "8 MB stay.",
        "fixes": [{"title": "clear it", "code": "log.clear()", "kind": "run"}],
    }
    return right | changed


@pytest.fixture
def case(tmp_path: Path) -> cases.Case:
    return cases.read(written(tmp_path, LEAKING))


def judged(case: cases.Case, *findings: dict[str, Any]) -> Judged:
    return judge(case, {"findings": [*findings], "failure": None})


def right(it: Judged) -> list[str]:
    return [name for name, is_so in totals.COLUMNS.items() if is_so(it)]


def test_an_answer_that_is_right_is_right_in_all(case: cases.Case) -> None:
    assert right(judged(case, finding())) == [*totals.COLUMNS]


@pytest.mark.parametrize(
    ("changed", "lost"),
    [
        ({"holders": ["catalog"]}, {"strict", "holder"}),
        ({"bytes": 80_000_000}, {"strict", "bytes"}),
        ({"bytes": 5_000_000}, {"bytes"}),
        ({"bytes": None}, {"strict", "bytes"}),
        ({"cause_cell": 1}, {"cell", "line"}),
        ({"cause_cell": None}, {"cell", "line"}),
        ({"line": 4}, {"line"}),
        ({"line": None}, {"line"}),
        ({"fixes": []}, {"repair"}),
    ],
)
def test_what_is_wrong_in_an_answer_is_lost_alone(
    case: cases.Case, changed: dict[str, Any], lost: set[str]
) -> None:
    assert {*totals.COLUMNS} - {*right(judged(case, finding(**changed)))} == lost


@pytest.mark.parametrize(
    "changed",
    [
        {"severity": "note"},
        {"holders": ["net"], "cause_cell": 1},
        {"holders": ["net"], "bytes": 80_000},
        {"cause_cell": 1, "bytes": 80_000},
    ],
)
def test_a_note_and_an_alarm_of_other_memory_find_nothing(
    case: cases.Case, changed: dict[str, Any]
) -> None:
    it = judged(case, finding(**changed))
    assert not it.found
    assert it.others == it.alarms


def test_a_note_is_enough_for_what_is_dead_by_its_name_alone(tmp_path: Path) -> None:
    case = cases.read(written(tmp_path, LEAKING.replace('"reach"', '"unused"')))
    assert judged(case, finding(severity="note")).found


def test_findings_that_share_one_leak_are_added(case: cases.Case) -> None:
    it = judged(case, finding(bytes=2_000_000), finding(bytes=6_000_000, holders=["log[1]", "log"]))
    assert it.bytes and it.is_strict
    assert not it.others


def test_pieces_far_from_the_whole_are_not_strict(case: cases.Case) -> None:
    assert not judged(case, finding(bytes=1_000_000), finding(bytes=1_000_000)).is_strict


def test_a_cell_that_runs_again_is_the_same_cell(tmp_path: Path) -> None:
    text = LEAKING.replace('"short"', '"short"\n# order = [1, 2, 2]')
    case = cases.read(written(tmp_path, text))
    assert judged(case, finding(cause_cell=3)).cause_line


def test_a_clean_case_is_accused_by_an_alarm_and_not_by_a_note(tmp_path: Path) -> None:
    case = cases.read(written(tmp_path, CLEAN))
    every = [judged(case, finding()), judged(case, finding(severity="note")), judged(case)]
    counts = totals.summed(every)
    assert (counts["clean"], counts["accused"], counts["leaking"]) == (3, 1, 0)


def test_a_run_that_failed_is_counted(case: cases.Case) -> None:
    failure = {"kind": "died", "cell": 2, "message": "the kernel died"}
    it = judge(case, {"findings": [], "failure": failure})
    assert totals.summed([it])["failed"] == 1
    assert "MISSED" in totals.line(it) and "the kernel died" in totals.line(it)


def test_a_name_in_capitals_is_no_word_of_a_sentence(tmp_path: Path) -> None:
    shown = cases.read(written(tmp_path, LEAKING.replace('"log", "log[0]"', '"Out"')))
    about = finding(holders=[], cause_cell=1, message="8 MB run out of sight.")
    assert not judged(shown, about).found
    assert judged(shown, about | {"message": "8 MB that Out[2] keeps."}).found
