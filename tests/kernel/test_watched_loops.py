"""xleak.watch inside of a cell, in the real kernel."""

from __future__ import annotations

from harness import Session


def test_a_leaking_loop_is_told_in_the_cell_and_the_cells_numbers_stay_whole(
    fresh_kernel: Session,
) -> None:
    fresh_kernel.run("import torch, xleak")
    ran = fresh_kernel.run("""
kept = []
with xleak.Watcher("train") as w:
    for _ in range(200):
        kept.append(torch.zeros(20_000))
        w.step()
print(w.kept_bytes)
""")
    assert ran.text() == "16000000\n"
    assert "LeakWarning: 'train' keeps" in ran.text("stderr")
    assert "kept: " in ran.text("stderr")
    record = fresh_kernel.run("__import__('xleak')._native.records()[1].tensor_kept_bytes")
    assert record.value == "16000000"


def test_a_block_that_leaks_nothing_prints_nothing(fresh_kernel: Session) -> None:
    fresh_kernel.run("import torch, xleak")
    ran = fresh_kernel.run("""
for _ in range(20):
    with xleak.watch("epoch", max_kept="1MiB"):
        torch.zeros(1 << 20)
""")
    assert ran.text() + ran.text("stderr") == ""
