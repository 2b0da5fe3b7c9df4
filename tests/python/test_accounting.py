"""Known amounts of memory, and what the record of the cell says of them."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from xleak import _native
from xleak.shell import readings

MIB = 1 << 20
KEPT = 64 * MIB
TOLERANCE = 0.02

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


@contextmanager
def cell() -> Iterator[Callable[[], _native.CellRecord]]:
    """Account the body as a cell; the value gives its record afterwards."""
    index = _native.begin_cell(None, None, [])

    def record() -> _native.CellRecord:
        found = _native.record(index)
        assert found is not None
        return found

    try:
        yield record
    finally:
        _native.end_cell(index, "ok", None, sys.getallocatedblocks(), [])


def written_malloc(size: int) -> int:
    block = libc.malloc(size)
    assert block
    ctypes.memset(block, 1, size)
    return int(block)


def resident_kept(record: _native.CellRecord) -> int:
    assert record.resident_before_bytes is not None
    assert record.resident_after_bytes is not None
    return record.resident_after_bytes - record.resident_before_bytes


def resident_rise_to_peak(record: _native.CellRecord) -> int:
    assert record.resident_before_bytes is not None
    assert record.resident_peak_bytes is not None
    return record.resident_peak_bytes - record.resident_before_bytes


def about(size: int) -> object:
    return pytest.approx(size, rel=TOLERANCE)


def test_512_mib_taken_and_given_back_is_a_peak_and_nothing_kept() -> None:
    with cell() as record:
        libc.free(written_malloc(512 * MIB))
    assert resident_rise_to_peak(record()) >= 512 * MIB * (1 - TOLERANCE)
    assert abs(resident_kept(record())) <= 512 * MIB * TOLERANCE
    assert abs(record().heap_kept_bytes or 0) <= 512 * MIB * TOLERANCE
    assert record().heap_kept_bytes is not None


def test_a_first_peak_is_exact() -> None:
    # A process of its own, in which nothing has been higher before.
    program = (
        "from xleak import _native\n"
        "index = _native.begin_cell(None, None, [])\n"
        "b'x' * (256 << 20)\n"
        "_native.end_cell(index, 'ok', None, None, [])\n"
        "record = _native.record(index)\n"
        "marks = [line.split()[1] for line in open('/proc/self/status') if 'VmHWM' in line]\n"
        "print(record.peak_is_exact, int(marks[0]) * 1024 - record.resident_peak_bytes)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout.split()
    assert out[0] == "True"
    assert abs(int(out[1])) < MIB  # The system counts pages in batches.


def test_a_peak_below_an_earlier_one_is_sampled() -> None:
    libc.free(written_malloc(512 * MIB))
    with cell() as record:
        block = written_malloc(256 * MIB)
        time.sleep(0.05)  # Fifty samples: the peak stands still for as long.
        libc.free(block)
    assert not record().peak_is_exact
    assert resident_rise_to_peak(record()) == about(256 * MIB)


def test_the_mark_of_the_process_is_left_to_its_user() -> None:
    with cell():
        libc.free(written_malloc(128 * MIB))
    with open("/proc/self/status") as status:
        mark = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    assert mark * 1024 >= 128 * MIB


def test_malloc_that_stays_is_kept() -> None:
    with cell() as record:
        block = written_malloc(KEPT)
    libc.free(block)
    assert record().heap_kept_bytes == about(KEPT)
    assert resident_kept(record()) == about(KEPT)


def test_a_numpy_array_that_stays_is_kept() -> None:
    numpy = pytest.importorskip("numpy", reason="numpy is not a dependency of xleak")
    with cell() as record:
        array = numpy.ones(KEPT // 8)
    assert array.nbytes == KEPT
    assert record().heap_kept_bytes == about(KEPT)
    assert resident_kept(record()) == about(KEPT)


def test_bytes_that_stay_are_kept() -> None:
    with cell() as record:
        value = b"x" * KEPT
    assert len(value) == KEPT
    assert record().heap_kept_bytes == about(KEPT)
    assert resident_kept(record()) == about(KEPT)


def test_freed_memory_is_negative() -> None:
    block = written_malloc(KEPT)
    with cell() as record:
        libc.free(block)
    assert record().heap_kept_bytes == about(-KEPT)
    assert resident_kept(record()) == about(-KEPT)


def test_untouched_malloc_is_in_the_heap_and_not_resident() -> None:
    with cell() as record:
        block = libc.malloc(KEPT)
    libc.free(block)
    assert record().heap_kept_bytes == about(KEPT)
    assert resident_kept(record()) < KEPT * TOLERANCE


def test_mapped_pages_are_resident_and_not_in_the_heap() -> None:
    with cell() as record:
        pages = mmap.mmap(-1, KEPT)
        pages.write(b"x" * KEPT)
    pages.close()
    assert resident_kept(record()) == about(KEPT)
    assert abs(record().heap_kept_bytes or 0) < KEPT * TOLERANCE
    assert record().heap_kept_bytes is not None
    assert record().minor_faults > 0


def test_what_threads_allocate_is_the_cell_s() -> None:
    blocks: list[int] = []

    def work() -> None:
        blocks.append(written_malloc(KEPT))

    with cell() as record:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for block in blocks:
        libc.free(block)
    assert record().heap_kept_bytes == about(4 * KEPT)
    assert resident_kept(record()) == about(4 * KEPT)


def test_the_memory_of_a_child_process_is_not_this_one_s() -> None:
    with cell() as record:
        child = subprocess.Popen(
            [sys.executable, "-c", f"b = b'x' * {256 * MIB}; print(len(b)); input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert child.stdout is not None
        child.stdout.readline()
    child.communicate(b"\n")
    assert resident_rise_to_peak(record()) < 32 * MIB
    assert abs(record().heap_kept_bytes or 0) < 2 * MIB


def test_a_forked_child_that_ends_the_cell_changes_nothing() -> None:
    index = _native.begin_cell("fork", 7, [])
    child = os.fork()
    if child == 0:
        _native.end_cell(index, "error", None, None, [])
        os._exit(0 if _native.begin_cell(None, None, []) == 0 else 1)
    assert os.waitpid(child, 0)[1] == 0
    record = _native.record(index)
    assert record is not None
    assert record.status == "running"
    _native.end_cell(index, "ok", 8, None, [])
    record = _native.record(index)
    assert record is not None
    assert (record.status, record.cell_id, record.execution_count) == ("ok", "fork", 8)


def test_python_blocks_are_counted_between_the_ends_of_cells() -> None:
    with cell():
        pass
    with cell() as record:
        objects = [object() for _ in range(10_000)]
    assert len(objects) == 10_000
    assert record().python_blocks_kept == pytest.approx(10_000, rel=TOLERANCE)


@pytest.mark.parametrize("arenas, counted", [(100 << 20, True), (1 << 30, False)])
def test_with_many_objects_a_cell_that_changed_no_large_block_is_not_counted(
    arenas: int, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_native, "python_pools", lambda: (70, arenas))
    assert _native.install_ledger().installed
    try:
        count = readings.PythonCount()
        assert count.before_first_cell().bytes == 70
        assert (count.end_cell().bytes == 70) == counted
        kept = bytearray(1 << 20)
        assert count.end_cell().bytes == 70
        assert len(kept) == 1 << 20
    finally:
        _native.uninstall_ledger()


def test_time_is_wall_and_processor() -> None:
    with cell() as sleeping:
        time.sleep(0.05)
    with cell() as spinning:
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
    assert sleeping().seconds >= 0.05
    assert sleeping().cpu_seconds < 0.04
    assert spinning().cpu_seconds >= 0.045


def test_a_wrong_status_is_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="a cell ends with status 'ok' or 'error', not 'done'"):
        _native.end_cell(1, "done", None, None, [])  # type: ignore[arg-type]
