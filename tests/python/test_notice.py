"""Which findings share a line, and when it changes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from shells import MIB, Session
from xleak.shell import notice as notice_module
from xleak.shell.cell_outputs import CellRequest, Header, place_of
from xleak.shell.notice import Notice

LAB: dict[str, Any] = {"deletedCells": [], "recordTiming": False}


class Outputs:
    """Of cells 1 to 9, each with metadata of its own; remembers what was shown where."""

    can_update = True

    def __init__(self, metadata: dict[int, dict[str, Any]]) -> None:
        self._metadata = metadata
        self.shown: list[tuple[Any, str, str]] = []

    def requests_since(self, index: int) -> list[CellRequest]:
        kept = {n: it for n, it in self._metadata.items() if n >= index}
        return [CellRequest(n, {"msg_id": n}, it) for n, it in sorted(kept.items())]

    def show_under(self, header: Header, msg_type: str, content: dict[str, Any]) -> None:
        self.shown.append((header["msg_id"], msg_type, content["data"]["text/plain"]))


def finding(key: str, cell: int, mib: int | None) -> Any:
    size = None if mib is None else mib * MIB
    return SimpleNamespace(
        code="XL401", key=key, cell=cell, cause_cell=None, bytes=size, message=f"{key}.", fixes=[]
    )


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> Outputs:
    """Of a front end that reads on; what is shown in the running cell has the place None."""
    outputs = Outputs({n: {**LAB, "cellId": str(n)} for n in range(1, 10)})

    def display(data: Any, *, display_id: str, update: bool, raw: bool) -> None:
        kind = "update_display_data" if update else "display_data"
        outputs.shown.append((None, kind, data["text/plain"]))

    monkeypatch.setattr("xleak.shell.cell_outputs.display", display)
    monkeypatch.setattr(notice_module, "name_of_run", lambda cell: f"cell {cell}")
    return outputs


def places(outputs: Outputs) -> list[Any]:
    return [place for place, _, _ in outputs.shown]


def test_findings_of_two_cells_have_two_lines_and_those_of_one_cell_one(outputs: Outputs) -> None:
    found = [finding("a", 1, 20), finding("b", 1, 1), finding("c", 2, 30)]
    assert Notice(outputs).tell(found, 16 * MIB, in_cell=False)
    assert places(outputs) == [1, 2]
    assert "21 MiB" in outputs.shown[0][2]


def test_small_findings_share_a_line_once_they_are_worth_one_together(outputs: Outputs) -> None:
    notice = Notice(outputs)
    small = [finding(str(cell), cell, 6) for cell in (1, 2, 3)]
    assert notice.tell(small[:2], 16 * MIB, in_cell=False)
    assert outputs.shown == []
    notice.tell(small, 16 * MIB, in_cell=False)
    assert places(outputs) == [3]
    notice.tell([*small, finding("4", 4, 6)], 16 * MIB, in_cell=False)
    assert places(outputs) == [3]


def test_findings_of_unknown_size_alone_get_no_line(outputs: Outputs) -> None:
    assert Notice(outputs).tell([finding("a", 1, None)], 16 * MIB, in_cell=True)
    assert outputs.shown == []


def test_a_line_follows_its_own_findings(outputs: Outputs) -> None:
    notice = Notice(outputs)
    grown, other = finding("a", 1, 20), finding("b", 2, 20)
    notice.tell([grown, other], MIB, in_cell=False)
    del outputs.shown[:]
    grown.message = "a has grown."
    notice.tell([grown, other], MIB, in_cell=False)
    notice.tell([grown, other], MIB, in_cell=False)
    notice.tell([other], MIB, in_cell=False)
    assert [(place, kind) for place, kind, _ in outputs.shown] == [(1, "update_display_data")] * 2
    assert "released" in outputs.shown[-1][2]


def test_what_was_released_and_is_there_again_has_its_line_back(outputs: Outputs) -> None:
    notice = Notice(outputs)
    for found in ([finding("a", 1, 20)], [], [finding("a", 1, 20)]):
        notice.tell(found, MIB, in_cell=False)
    kinds = [kind for _, kind, _ in outputs.shown]
    assert kinds == ["display_data", "update_display_data", "update_display_data"]
    # After another cell it is another leak.
    notice.tell([finding("a", 5, 20)], MIB, in_cell=False)
    assert outputs.shown[-1][:2] == (5, "display_data")


def test_what_no_client_would_read_waits_for_a_cell_that_runs(outputs: Outputs) -> None:
    outputs._metadata = {1: {"cellId": "1"}, 2: {**LAB, "cellId": "2"}}
    notice = Notice(outputs)
    found = [finding("a", 1, 20), finding("b", 2, 20)]
    assert not notice.tell(found, MIB, in_cell=False)
    assert places(outputs) == [2]
    assert notice.tell(found, MIB, in_cell=True)
    assert notice.tell(found, MIB, in_cell=True)
    assert places(outputs) == [2, None]


def test_many_lines_are_not_all_followed_and_none_comes_twice(outputs: Outputs) -> None:
    outputs._metadata = {}
    notice = Notice(outputs)
    found = [finding(str(cell), cell, 20) for cell in range(1, 300)]
    for _ in range(3):
        assert notice.tell(found, MIB, in_cell=True)
    assert len(outputs.shown) == 299


@pytest.mark.parametrize(
    ("metadata", "place"),
    [
        ({1: {**LAB, "cellId": "a"}}, 1),
        ({1: {"cellId": "vscode-notebook-cell:/tmp/a.ipynb#W0"}}, 1),
        ({1: {"cellId": "a"}}, None),
        ({1: {}}, None),
        ({2: {**LAB, "cellId": "a"}}, None),
        ({1: {**LAB, "cellId": "a"}, 2: {**LAB, "cellId": "a"}}, 2),
        ({1: {**LAB, "cellId": "a"}, 2: {**LAB, "cellId": "b", "deletedCells": ["a"]}}, None),
        ({1: {**LAB, "cellId": "a"}, 2: {"cellId": ["a"], "deletedCells": "a"}}, 1),
    ],
    ids=["lab", "vs code", "id alone", "nothing", "not kept", "again", "deleted", "nonsense"],
)
def test_where_the_line_of_the_first_cell_stands(
    metadata: dict[int, dict[str, Any]], place: int | None
) -> None:
    found = place_of(Outputs(metadata), 1)
    assert found == (None if place is None else {"msg_id": place})


def test_between_queued_cells_a_look_has_a_share_of_their_time_once_two_seconds_passed(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("xleak.shell.watcher.time.monotonic", lambda: now)
    had: list[float] = []

    def look(*arguments: Any) -> bool:
        nonlocal now
        interrupted, began = arguments[-1], now
        while not interrupted():
            now += 0.001
        had.append(round(now - began, 3))
        return False

    watcher = session.watcher
    watcher._holders.look = look  # type: ignore[assignment, method-assign]
    watcher.look_again()
    for seconds in range(1, 17):
        now = 100.0 + seconds
        watcher.about_to_run("x = 1", 1)
    assert had == pytest.approx([0.02, 0.04, 0.08, 0.16], abs=0.002)
