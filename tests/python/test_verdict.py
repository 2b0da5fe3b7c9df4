"""What the native records become."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
from verdict_samples import MIB, cell, finding, verdict
from xleak.verdict import Cell, build, from_json, to_json

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "share" / "comm" / "verdict.v1.schema.json").read_text()
)


def record(index: int, **more: Any) -> Any:
    fields: dict[str, Any] = {
        "index": index,
        "cell_id": None,
        "execution_count": index,
        "status": "ok",
        "seconds": 0.25,
        "cpu_seconds": 0.2,
        "resident_before_bytes": 100 * MIB,
        "resident_after_bytes": 164 * MIB,
        "resident_peak_bytes": 200 * MIB,
        "peak_is_exact": True,
        "heap_kept_bytes": -5,
        "small_heap_kept_bytes": 5,
        "heap_free_bytes": 10,
        "tensor_kept_bytes": -7,
        "tensor_peak_bytes": 11,
        "tensor_allocated_bytes": 13,
        "allocated_alive_bytes": 17,
        "allocated_peak_bytes": 19,
        "python_blocks_kept": 3,
        "python_bytes_kept": -2,
        "minor_faults": 7,
        "major_faults": 0,
        "devices": [],
        "is_own": False,
    }
    return SimpleNamespace(**{**fields, **more})


def native_finding() -> Any:
    fix = SimpleNamespace(title="Release it", code="%xdel Out[1]")
    return SimpleNamespace(**{**vars(finding()), "fixes": [fix], "key": "Out[1]"})


def test_native_records_and_findings_become_a_valid_verdict() -> None:
    use = SimpleNamespace(
        device="cuda:0", allocated_kept_bytes=1, allocated_peak_bytes=None, reserved_bytes=2
    )
    shape = to_json(build([record(1, cell_id="a", devices=[use])], [native_finding()]))
    jsonschema.validate(shape, SCHEMA)
    host = shape["cells"][0]["host"]
    assert host["resident_peak_bytes"] == 200 * MIB
    assert (host["tensor_kept_bytes"], host["tensor_peak_bytes"]) == (-7, 11)
    assert host["kept_bytes"] == 17 + 5 - 2
    assert host["tensor_allocated_bytes"] == 13
    assert (host["allocated_alive_bytes"], host["allocated_peak_bytes"]) == (17, 19)
    assert shape["cells"][0]["devices"][0]["allocated_peak_bytes"] is None
    assert shape["findings"][0]["fixes"] == [
        {"title": "Release it", "code": "%xdel Out[1]", "kind": "run"}
    ]


def test_the_cell_that_is_running_is_not_judged() -> None:
    assert [c.index for c in build([record(1), record(2, status="running")], []).cells] == [1]


def test_a_number_that_could_not_be_had_is_null() -> None:
    shape = to_json(build([record(1, resident_after_bytes=None, tensor_kept_bytes=None)], []))
    assert shape["cells"][0]["host"]["resident_after_bytes"] is None
    assert shape["cells"][0]["host"]["tensor_kept_bytes"] is None
    assert shape["summary"]["kept_bytes"] is None


def test_a_leak_from_before_the_first_cell_is_there_after_it() -> None:
    old = native_finding()
    old.cell = 0
    assert build([], [old]).findings[0].cell == 1


def test_kept_is_the_growth_from_before_the_first_cell_to_after_the_last_that_ran() -> None:
    cells = [cell(1, 100, 150), cell(2, 160, 170), Cell(3)]
    assert verdict(cells).summary.kept_bytes == 70 * MIB


def test_peak_is_the_highest_of_all_cells() -> None:
    assert verdict([cell(1, 100, 300), cell(2, 200, 250)]).summary.peak_bytes == 300 * MIB


def test_releasable_sums_what_was_measured_and_leaves_out_what_is_unknown() -> None:
    findings = [finding(), finding(bytes=None), finding(basis="source", bytes=None)]
    assert verdict([], findings).summary.releasable_bytes == 64 * MIB


def test_releasable_is_unknown_when_no_measured_size_is_known() -> None:
    assert verdict([], [finding(bytes=None)]).summary.releasable_bytes is None


def test_releasable_is_zero_without_findings() -> None:
    assert verdict([]).summary.releasable_bytes == 0


def test_findings_are_counted_by_severity() -> None:
    findings = [finding(), finding(severity="note"), finding(severity="note")]
    assert verdict([], findings).summary.findings == {"error": 0, "warning": 1, "note": 2}


def test_a_verdict_survives_being_written_and_read() -> None:
    whole = verdict([cell(1, 1, 2), Cell(2)], [finding()])
    assert from_json(json.loads(json.dumps(to_json(whole)))) == whole


def kept(**more: Any) -> Any:
    return to_json(build([record(1, **more)], []))["cells"][0]["host"]["kept_bytes"]


def test_what_was_not_counted_of_a_cell_is_in_the_next_number() -> None:
    assert kept(python_bytes_kept=None, python_blocks_kept=None) == 17 + 5
    assert kept(small_heap_kept_bytes=None) == 17 - 2


def test_without_the_ledger_or_python_s_statistics_nobody_says_what_a_cell_kept() -> None:
    assert kept(allocated_alive_bytes=None) is None
    assert kept(python_bytes_kept=None) is None
