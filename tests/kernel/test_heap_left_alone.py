"""What xleak needs for itself leaves malloc as it was: where it puts the blocks of the program."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from harness import Session

# malloc(3): a block with pages of its own has the second lowest bit of the word before it set.
MEASURE = """
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.realloc.restype, libc.realloc.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
def has_own_pages(kib):
    block = libc.malloc(kib << 10)
    word = ctypes.c_size_t.from_address(block - ctypes.sizeof(ctypes.c_size_t)).value
    # Small again, it changes nothing when it is freed.
    libc.free(libc.realloc(block, 16))
    return bool(word & 2)
"""
SIZES_KIB = [140, 200, 300, 500, 700, 1000, 1500, 3000, 6000, 12000, 24000]
ASK = f"[has_own_pages(kib) for kib in {SIZES_KIB}]"


def blocks_with_own_pages(kernel: Session, cells: list[str]) -> list[bool]:
    kernel.run(MEASURE)
    for cell in cells:
        kernel.run(cell)
    kernel.settle()
    own: list[bool] = kernel.ask(ASK)
    return own


@pytest.mark.parametrize(
    "cells",
    [
        ["x = 1"],
        ["rows = [[number] for number in range(300_000)]", "x = bytearray(4 << 20)", "del x"],
    ],
    ids=["a cell", "many objects"],
)
def test_malloc_gives_pages_of_their_own_to_the_same_blocks_as_in_a_kernel_that_is_not_watched(
    start_kernel: Callable[..., Session], cells: list[str]
) -> None:
    watched = blocks_with_own_pages(start_kernel(), cells)
    assert watched == blocks_with_own_pages(start_kernel(XLEAK_DISABLE="1"), cells)


C_HEAP = """
class Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]
libc.mallinfo2.restype = Heap
# From here on blocks of up to 16 MiB come from the C heap, which keeps twice as much when they are freed.
libc.free(libc.malloc(16 << 20))
first = [[number] for number in range(100_000)]
"""


def test_a_look_makes_the_c_heap_no_larger(start_kernel: Callable[..., Session]) -> None:
    kernel = start_kernel()
    kernel.run(MEASURE)
    kernel.run(C_HEAP)
    # What the first look imports stays.
    kernel.settle()
    kernel.run("rows = [[number] for number in range(500_000)]\nbefore = libc.mallinfo2().arena")
    kernel.settle()
    grown: int = kernel.ask("libc.mallinfo2().arena - before")
    # A list of all objects would take 4 MiB.
    assert grown < 1 << 20
