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
