"""Findings that wait until somebody asks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from shells import Session


@pytest.mark.parametrize(("severity", "lines"), [("note", 0), ("warning", 1)])
def test_a_note_prints_no_line_under_a_cell(
    session: Session, monkeypatch: pytest.MonkeyPatch, severity: str, lines: int
) -> None:
    told: list[list[Any]] = []
    found = SimpleNamespace(severity=severity, bytes=1 << 40)
    monkeypatch.setattr(session.watcher, "findings", lambda: [found])

    def tell(them: list[Any], least_bytes: int, *, in_cell: bool) -> bool:
        told.append(them)
        return True

    monkeypatch.setattr(session.watcher._notice, "tell", tell)
    session.watcher._has_news = True
    session.run("x = 1")
    assert [len(them) for them in told] == [lines]
