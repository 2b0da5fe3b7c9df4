"""The ledger of large blocks, as Python sees it. Each case is a process of its own: the ledger is the process's."""

import subprocess
import sys
import textwrap

import pytest

numpy = pytest.importorskip("numpy", reason="needs numpy, whose arrays are large blocks")


def said_by(program: str) -> str:
    """What a program prints that has the ledger installed."""
    head = """
        import numpy as np
        from xleak import _native as n
        state = n.install_ledger()
        assert state.installed, state.reason
        n.births_belong_to(3)
        def block_of(array):
            found = [b for b in n.living_blocks() if b.address <= array.ctypes.data < b.address + b.bytes]
            return found[0] if found else None
    """
    source = textwrap.dedent(head) + textwrap.dedent(program)
    ran = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_an_array_is_a_block_of_its_cell_until_it_is_dropped() -> None:
    said = said_by("""
        array = np.ones(1 << 20)
        block = block_of(array)
        print(block.cell, block.kind, block.bytes >= array.nbytes, block.reserved_bytes)
        address = block.address
        del array
        print(any(b.address == address for b in n.living_blocks()))
    """)
    assert said == "3 heap True 0\nFalse"


def test_a_bytes_object_and_a_large_list_are_blocks() -> None:
    said = said_by("""
        before = n.block_sums().alive_bytes
        text = bytes(5 << 20)
        rows = [None] * (1 << 20)
        print(n.block_sums().alive_bytes - before >= (5 << 20) + (8 << 20))
    """)
    assert said == "True"


def test_arenas_of_small_objects_are_no_cells_birth() -> None:
    said = said_by("""
        rows = [(i, str(i)) for i in range(200_000)]
        arenas = [b for b in n.living_blocks() if b.kind == "python_arena"]
        print(len(arenas) > 0, {b.cell for b in arenas}, {b.site for b in arenas})
    """)
    assert said == "True {0} {None}"


def test_the_peak_of_a_cell_counts_what_came_and_went() -> None:
    said = said_by("""
        n.births_belong_to(4)
        before = n.block_sums().alive_bytes
        np.ones(4 << 20)
        sums = n.block_sums()
        print(sums.peak_bytes - before >= 32 << 20, sums.alive_bytes - before < 1 << 20)
        parts = n.made_up_the_peak()
        print(sum(size for _, size in parts) >= 32 << 20)
        n.births_belong_to(5)
        print(n.block_sums().peak_bytes - before < 1 << 20)
    """)
    assert said == "True True\nTrue\nTrue"


def test_a_library_imported_later_is_seen() -> None:
    said = said_by("""
        import sqlite3, mmap
        slots = n.ledger_state().slots
        pages = mmap.mmap(-1, 8 << 20)
        pages.write(b"x" * (2 << 20))
        n.births_belong_to(4)
        maps = [b for b in n.living_blocks() if b.kind == "anonymous_map" and b.reserved_bytes == 8 << 20]
        print(slots > 0, [b.bytes for b in maps])
    """)
    assert said == f"True [{2 << 20}]"


def test_a_forked_child_says_that_it_is_off() -> None:
    said = said_by("""
        import os
        child = os.fork()
        if child == 0:
            array = np.ones(1 << 20)
            off = not n.install_ledger().installed and "forked" in n.ledger_state().reason
            os._exit(7 if off and n.living_blocks() == [] else 8)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), n.ledger_state().installed)
    """)
    assert said == "7 True"


def test_uninstalled_it_knows_nothing_and_says_why() -> None:
    said = said_by("""
        array = np.ones(1 << 20)
        n.uninstall_ledger()
        state = n.ledger_state()
        print(state.installed, state.reason, state.slots, n.living_blocks(), n.made_up_the_peak())
        del array
    """)
    assert said == "False it was taken out again. 0 [] []"


def test_threads_that_make_arrays_without_end_leave_sums_that_agree_with_the_list() -> None:
    said = said_by("""
        import threading
        kept = []
        def work():
            for _ in range(200):
                kept.append(np.empty(1 << 17))
                np.ones(1 << 17)
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        heap = sum(b.bytes for b in n.living_blocks() if b.kind == "heap")
        print(n.block_sums().alive_bytes - heap, heap >= 1600 << 20)
    """)
    assert said == "0 True"
