"""The diagnosis and the marks of cells in the kernel itself."""

from __future__ import annotations

import json
from pathlib import Path

from harness import Session

CLEAN = Path(__file__).parents[1] / "python" / "complete_training.py"
TRAINING = """
import torch
net = torch.nn.Linear(64, 8)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
ran = []
"""


def test_a_profiled_cell_is_reported_below_it_and_writes_nothing_to_stderr(
    kernel: Session, tmp_path: Path
) -> None:
    kernel.run(TRAINING)
    ran = kernel.run(
        f"%%leakcheck --profile {tmp_path / 'trace.json'}\n"
        "ran.append(1); net(torch.rand(4, 64)).sum().backward(); optimizer.step()"
    )
    assert ran.content["status"] == "ok"
    assert "backward:" in ran.text() and "optimizer step:" in ran.text()
    assert ran.text("stderr") == ""
    assert kernel.value("ran, torch.autograd._profiler_enabled()") == "([1], False)"
    assert (tmp_path / "trace.json").is_file()
    assert kernel.value("'KINETO_LOG_LEVEL' in __import__('os').environ") == "False"


def test_an_interrupted_profile_ends(kernel: Session) -> None:
    kernel.run(TRAINING)
    ran = kernel.run("%%leakcheck --profile\nraise KeyboardInterrupt")
    assert ran.content["status"] == "error"
    assert kernel.value("torch.autograd._profiler_enabled()") == "False"


def test_a_recorded_cell_writes_the_cells_over_time(kernel: Session, tmp_path: Path) -> None:
    ran = kernel.run(f"%%memreport --snapshot {tmp_path / 'it.pickle'}\nkept = bytearray(8 << 20)")
    assert "written to" in ran.text()
    points = json.loads((tmp_path / "it.pickle.json").read_text())["points"]
    # Small blocks from before the cell are freed meanwhile.
    assert points[-1]["heap_kept_bytes"] >= (8 << 20) * 0.99


def test_a_diagnosis_is_text_and_a_table(kernel: Session) -> None:
    [shown] = kernel.run("%leakcheck --diagnose").of("display_data")
    assert shown["data"]["text/plain"].startswith("0 problems")
    assert "<table" in shown["data"]["text/html"]


def test_devices_are_told_in_the_kernel(kernel: Session) -> None:
    kernel.run(TRAINING)
    assert "net (Linear): Parameters 2 tensors on cpu" in kernel.run("%xleak devices").text()


def test_nothing_is_told_of_a_correct_training_loop(fresh_kernel: Session) -> None:
    for cell in CLEAN.read_text().split("# %%\n")[1:]:
        ran = fresh_kernel.run(cell)
        assert ran.content["status"] == "ok", ran.content
        assert ran.text() + ran.text("stderr") == ""
    assert fresh_kernel.findings() == {}
    shape = json.loads(fresh_kernel.run("%leakcheck --diagnose --json").text())
    answers = {it["answer"] for section in shape["sections"] for it in section["checks"]}
    assert answers == {"no", "unknown"}
    assert [it["name"] for it in shape["symptoms"]] == ["none"]
