"""`%memreport --snapshot`."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
from shells import Session
from xleak import _native

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "share" / "comm" / "timeline.v1.schema.json").read_text())


class Recorder(ModuleType):
    """What torch.cuda.memory offers, as far as it is asked."""

    def __init__(self, is_on: bool = False) -> None:
        super().__init__("torch.cuda.memory")
        self.is_on = is_on
        self.changes: list[str] = []
        self.calls: list[Any] = []

    def _record_memory_history(self, enabled: str | None = "all", **_more: object) -> None:
        self.is_on = enabled is not None
        self.calls.append(enabled)

    def _snapshot(self) -> dict[str, Any]:
        return {"segments": [], "device_traces": [[{"action": it} for it in self.changes]]}


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """A card that torch uses, with its recorder."""
    import torch

    memory, cuda = Recorder(), ModuleType("torch.cuda")
    cuda.is_initialized = lambda: True  # type: ignore[attr-defined]
    cuda.device_count = lambda: 0  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.cuda", cuda)
    monkeypatch.setitem(sys.modules, "torch.cuda.memory", memory)
    monkeypatch.setitem(vars(torch._C), "_cuda_isHistoryEnabled", lambda: memory.is_on)
    return memory


# --- without a device ----------------------------------------------------------------------------


def test_without_a_device_the_cells_are_written_over_time(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("kept = bytearray(8 << 20)")
    index = _native.records()[-1].index
    assert session.run(f"%memreport --snapshot {tmp_path / 'it.pickle'}")
    assert "torch uses no device here" in capsys.readouterr().out
    assert not (tmp_path / "it.pickle").exists()
    shape = json.loads((tmp_path / "it.pickle.json").read_text())
    jsonschema.validate(shape, SCHEMA)
    [end] = [it for it in shape["points"] if it["cell"] == index and it["at"] == "end"]
    assert end["heap_kept_bytes"] >= 8 << 20
    times = [it["seconds"] for it in shape["points"] if it["at"] != "peak"]
    assert times == sorted(times)


def test_a_marked_cell_runs_once_and_is_in_the_timeline(session: Session, tmp_path: Path) -> None:
    session.run("ran = []")
    session.run(f"%%memreport --snapshot {tmp_path / 'it.json'}\nran.append(1)")
    index = _native.records()[-1].index
    assert session.shell.user_ns["ran"] == [1]
    shape = json.loads((tmp_path / "it.json").read_text())
    assert shape["points"][-1]["cell"] == index


@pytest.mark.parametrize("file", ["it", "it.txt", ""])
def test_a_file_of_another_kind_is_refused(session: Session, tmp_path: Path, file: str) -> None:
    assert not session.run(f"%memreport --snapshot {tmp_path / file if file else ''}")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_one_sentence_and_the_cell_has_run(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert session.run(f"%%memreport --snapshot {tmp_path / 'no' / 'it.json'}\nran = 1")
    assert session.shell.user_ns["ran"] == 1
    assert "cannot write" in capsys.readouterr().out
    assert not session.run(f"%memreport --snapshot {tmp_path / 'no' / 'it.json'}")


# --- with a recorder -----------------------------------------------------------------------------


def test_torch_records_the_marked_cell_and_nothing_after_it(
    session: Session, recorder: Recorder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session.shell.user_ns["recorder"] = recorder
    target = tmp_path / "it.pickle"
    session.run(
        f"%%memreport --snapshot {target}\nrecorder.changes.append('alloc'); on = recorder.is_on"
    )
    assert session.shell.user_ns["on"] is True
    assert recorder.is_on is False
    assert pickle.loads(target.read_bytes())["device_traces"] == [[{"action": "alloc"}]]
    assert "torch's snapshot with 1 change" in capsys.readouterr().out


def test_recording_ends_also_with_a_cell_that_fails(
    session: Session, recorder: Recorder, tmp_path: Path
) -> None:
    target = tmp_path / "it.pickle"
    assert not session.run(f"%%memreport --snapshot {target}\n1 / 0")
    assert recorder.calls == ["all", None]
    assert target.exists()


def test_a_recording_of_the_users_goes_on(
    session: Session, recorder: Recorder, tmp_path: Path
) -> None:
    recorder.is_on = True
    recorder.changes = ["alloc", "free"]
    target = tmp_path / "it.pickle"
    session.run(f"%%memreport --snapshot {target}\nx = 1")
    session.run(f"%memreport --snapshot {tmp_path / 'line.pickle'}")
    assert recorder.calls == [] and recorder.is_on is True
    assert len(pickle.loads(target.read_bytes())["device_traces"][0]) == 2


def test_a_cell_that_switches_the_recorder_itself_has_it(
    session: Session, recorder: Recorder, tmp_path: Path
) -> None:
    session.shell.user_ns["recorder"] = recorder
    session.run(
        f"%%memreport --snapshot {tmp_path / 'it.pickle'}\nrecorder._record_memory_history()"
    )
    assert recorder.calls == ["all"] and recorder.is_on is True


def test_a_card_records_the_blocks_of_the_marked_cell(session: Session, tmp_path: Path) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no CUDA device on this machine")
    session.run("import torch; torch.ones(1, device='cuda')")
    target = tmp_path / "it.pickle"
    session.run(f"%%memreport --snapshot {target}\nkept = torch.ones(1 << 20, device='cuda')")
    assert any(pickle.loads(target.read_bytes())["device_traces"])
    assert not torch._C._cuda_isHistoryEnabled()
