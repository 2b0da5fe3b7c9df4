"""What is counted of tensors, against sizes that are known and malloc's own counters."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from allocators import malloc_bytes
from torch_process import _torch, ran

MIB = 1 << 20
# Torch keeps books of its own in the same heap.
SLACK = 64 << 10


@pytest.fixture(autouse=True)
def watched() -> None:
    _torch.install()
    gc.collect()


# --- what a cell keeps -----------------------------------------------------------------------


def test_a_cell_keeps_what_lives_and_peaks_at_what_lived_at_once() -> None:
    before = _torch.live_bytes()
    _torch.begin_cell(1)
    kept = torch.empty(4 * MIB, dtype=torch.uint8)
    del_later = torch.empty(16 * MIB, dtype=torch.uint8)
    del del_later
    again = torch.empty(8 * MIB, dtype=torch.uint8)
    del again
    assert _torch.end_cell(1) == (4 * MIB, before + 20 * MIB, 28 * MIB)
    assert _torch.live_bytes() == before + kept.nbytes


def test_what_is_counted_is_what_malloc_hands_out() -> None:
    live, used = _torch.live_bytes(), malloc_bytes()
    tensors = [torch.ones(100_000) for _ in range(50)]
    assert _torch.live_bytes() - live == 50 * 400_000
    assert abs(malloc_bytes() - used - 50 * 400_000) < 50 * 4096 + SLACK
    tensors.clear()
    assert _torch.live_bytes() == live
    assert abs(malloc_bytes() - used) < SLACK


def test_a_cell_that_frees_an_earlier_tensor_keeps_less_than_nothing() -> None:
    held = [torch.empty(2 * MIB, dtype=torch.uint8)]
    _torch.begin_cell(1)
    held.clear()
    use = _torch.end_cell(1)
    assert use is not None
    assert use[0] == -2 * MIB


def test_the_peak_of_an_inner_cell_is_the_outer_ones_too() -> None:
    before = _torch.live_bytes()
    _torch.begin_cell(1)
    _torch.begin_cell(2)
    torch.empty(8 * MIB, dtype=torch.uint8)
    assert _torch.end_cell(2) == (0, before + 8 * MIB, 8 * MIB)
    assert _torch.end_cell(1) == (0, before + 8 * MIB, 8 * MIB)


def test_a_cell_that_was_never_begun_has_no_numbers() -> None:
    assert _torch.end_cell(12345) is None


def test_a_block_knows_the_cell_that_made_it() -> None:
    _torch.begin_cell(41)
    tensor = torch.empty(MIB, dtype=torch.uint8)
    _torch.end_cell(41)
    between = torch.empty(MIB, dtype=torch.uint8)
    cells = {address: (size, cell) for address, size, cell in _torch.blocks(64 << 10)}
    assert cells[tensor.data_ptr()] == (MIB, 41)
    assert cells[between.data_ptr()] == (MIB, 0)


def test_only_blocks_of_the_wanted_size_are_listed() -> None:
    small, large = torch.empty(100), torch.empty(100_000)
    listed = {address for address, _, _ in _torch.blocks(64 << 10)}
    assert large.data_ptr() in listed
    assert small.data_ptr() not in listed


# --- threads and forks -----------------------------------------------------------------------


def test_tensors_of_other_threads_are_counted() -> None:
    before, kept = _torch.live_bytes(), list[torch.Tensor]()
    threads = [
        threading.Thread(target=lambda: kept.append(torch.empty(MIB, dtype=torch.uint8)))
        for _ in range(8)
    ]
    _torch.begin_cell(1)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _torch.end_cell(1) == (8 * MIB, before + 8 * MIB, 8 * MIB)


def test_nothing_is_lost_where_many_threads_allocate_at_once() -> None:
    before = _torch.live_bytes()

    def churn() -> None:
        for size in range(1, 2000):
            torch.empty(size)

    threads = [threading.Thread(target=churn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _torch.live_bytes() == before


def test_what_autograds_own_threads_make_is_counted() -> None:
    weight = torch.randn(1000, 1000, requires_grad=True)
    before = _torch.live_bytes()
    (weight * 2).sum().backward()
    assert weight.grad is not None
    assert _torch.live_bytes() - before == weight.grad.nbytes


def test_a_fork_while_another_thread_allocates_hangs_no_child() -> None:
    codes = ran("""
        import os, threading, warnings
        warnings.simplefilter("ignore")
        _torch.install()
        stop = threading.Event()
        def churn():
            while not stop.is_set():
                torch.empty(64)
        threads = [threading.Thread(target=churn) for _ in range(3)]
        for thread in threads: thread.start()
        codes = []
        for _ in range(200):
            child = os.fork()
            if child == 0:
                for size in range(1, 20): torch.empty(size)
                os._exit(0)
            codes.append(os.waitpid(child, 0)[1])
        stop.set()
        for thread in threads: thread.join()
        print(json.dumps(codes))
    """)
    assert codes == [0] * 200


def test_the_workers_of_a_data_loader_run_watched() -> None:
    total, live = ran("""
        class Squares(torch.utils.data.Dataset):
            def __len__(self): return 64
            def __getitem__(self, index): return torch.full((1000,), float(index))
        _torch.install()
        before = _torch.live_bytes()
        loader = torch.utils.data.DataLoader(Squares(), batch_size=8, num_workers=2)
        total = sum(float(batch[:, 0].sum()) for batch in loader)
        del loader
        print(json.dumps([total, _torch.live_bytes() - before]))
    """)
    assert total == sum(range(64))
    assert live == 0


# --- memory that comes from elsewhere, or moves ----------------------------------------------


def test_memory_of_numpy_is_numpys() -> None:
    array = np.ones(MIB)
    before = _torch.live_bytes()
    tensor = torch.from_numpy(array)
    assert _torch.live_bytes() == before
    tensor[0] = 7
    assert array[0] == 7
    assert tensor.data_ptr() not in {address for address, _, _ in _torch.blocks(0)}


def test_an_array_made_from_a_tensor_keeps_its_block() -> None:
    before = _torch.live_bytes()
    array = torch.ones(MIB).numpy()
    assert _torch.live_bytes() - before == 4 * MIB
    assert array[3] == 1
    del array
    assert _torch.live_bytes() == before


def test_a_tensor_moved_to_shared_memory_leaves_the_heap() -> None:
    before = _torch.live_bytes()
    tensor = torch.ones(MIB)
    tensor.share_memory_()
    assert _torch.live_bytes() == before
    assert float(tensor.sum()) == MIB


def test_a_tensor_is_saved_and_loaded_the_same(tmp_path: Path) -> None:
    tensor = torch.arange(100_000.0)
    torch.save(tensor, tmp_path / "tensor.pt")
    before = _torch.live_bytes()
    loaded = torch.load(tmp_path / "tensor.pt")
    assert torch.equal(loaded, tensor)
    assert _torch.live_bytes() - before == tensor.nbytes


def test_a_resized_tensor_is_counted_at_its_new_size() -> None:
    tensor = torch.empty(MIB, dtype=torch.uint8)
    before = _torch.live_bytes()
    tensor.resize_(3 * MIB)
    assert _torch.live_bytes() - before == 2 * MIB


def test_a_copy_on_write_clone_is_counted_once_it_is_written() -> None:
    tensor = torch.ones(MIB)
    before = _torch.live_bytes()
    clone = torch._lazy_clone(tensor)
    assert _torch.live_bytes() == before
    clone[0] = 2
    assert _torch.live_bytes() - before == 4 * MIB
    assert float(tensor[0]) == 1


def test_the_profiler_still_sees_memory() -> None:
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        torch.ones(MIB)
    seen = {event.key: event.self_cpu_memory_usage for event in profile.key_averages()}
    assert seen["aten::empty"] == 4 * MIB


def test_tensors_older_than_the_allocator_are_adopted_and_freed() -> None:
    tensor_bytes, adopted, live, after = ran("""
        old, view = torch.ones(1 << 20), torch.ones(1000)[10:]
        adopted = _torch.install(5)
        live, cells = _torch.live_bytes(), {cell for _, _, cell in _torch.blocks(0)}
        assert cells == {5}, cells
        size = old.nbytes + view.untyped_storage().nbytes()
        del old, view
        print(json.dumps([size, adopted, live, _torch.live_bytes()]))
    """)
    assert adopted == 2
    assert live == tensor_bytes
    assert after == 0


def test_older_blocks_that_python_does_not_reach_are_freed_uncounted() -> None:
    live = ran("""
        leaf = torch.ones(1 << 20, requires_grad=True)
        loss = leaf.exp().sum()
        _torch.install()
        before = _torch.live_bytes() - leaf.nbytes - loss.nbytes
        del loss
        print(json.dumps([before, _torch.live_bytes() - leaf.nbytes]))
    """)
    assert live == [0, 0]


def test_a_compiled_graph_computes_the_same() -> None:
    compiled = torch.compile(lambda x: x * 2 + 1, backend="aot_eager")
    assert torch.equal(compiled(torch.arange(5.0)), torch.arange(5.0) * 2 + 1)
