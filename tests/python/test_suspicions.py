"""What the source says beside what was measured."""

from __future__ import annotations

import pytest
from verdict_samples import cell, finding, verdict
from xleak import source
from xleak.cell_names import cell_name
from xleak.magics import suspicions
from xleak.magics.suspicions import SourceOfSession, listed

CODE = "import torch\nnet = torch.nn.Linear(3, 3)\ntotal = 0.0\nfor batch in data:\n    total += net(batch).mean()\n"


@pytest.fixture(autouse=True)
def _no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cells are none of this process's, whatever ran in it before."""
    monkeypatch.setattr(suspicions, "name_of_run", lambda index: cell_name(index, index))


def read(index: int) -> SourceOfSession:
    report = source.lint_cells([CODE]).report
    return SourceOfSession([(index, it) for it in report.findings], [])


def test_a_measured_finding_gets_the_line_that_the_source_tells() -> None:
    measured = verdict([cell(1)], [finding(code="XL203", cell=2, cause_cell=1, line=None)])
    assert read(1).confirming(measured).findings[0].line == 5
    assert read(1).unconfirmed(measured) == []


def test_a_line_of_another_cell_or_rule_is_not_taken() -> None:
    measured = verdict([cell(1)], [finding(code="XL203", cell=2, cause_cell=2, line=None)])
    assert read(1).confirming(measured).findings[0].line is None
    other = verdict([cell(1)], [finding(code="XL101", cell=1, cause_cell=1, line=None)])
    assert read(1).confirming(other).findings[0].line is None
    assert [it.where for it in read(1).unconfirmed(other)] == ["cell 1"]


def test_a_suspicion_says_whether_its_rule_measures() -> None:
    (suspicion,) = read(3).unconfirmed(verdict([cell(3)]))
    assert suspicion.refuted
    assert "XL203 cell 3, line 5 (not seen in memory)" in listed([suspicion])
