"""What a look needs for itself leaves malloc as it was: where it puts the blocks of the program."""

from __future__ import annotations

import pytest
from shell_session import session

# malloc(3): a block with pages of its own has the second lowest bit of the word before it set.
CELLS = """
import ctypes
from xleak.shell.watcher import watcher
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.realloc.restype, libc.realloc.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

def has_own_pages(size):
    block = libc.malloc(size)
    word = ctypes.c_size_t.from_address(block - ctypes.sizeof(ctypes.c_size_t)).value
    # Small again, it changes nothing when it is freed.
    libc.free(libc.realloc(block, 16))
    return bool(word & 2)

run({many!r})
before = [has_own_pages(size << 10) for size in SIZES]
for _ in range(2):
    watcher().look_again()
    watcher().idle(lambda: False)
after = [has_own_pages(size << 10) for size in SIZES]
print(before == after, before, after)
"""
# KiB.
SIZES = [140, 300, 700, 1500, 3000, 6000, 12000, 24000]


@pytest.mark.parametrize(
    "many",
    [
        "rows = [[number] for number in range(300_000)]",
        # Each is an entry of Out whose part of the heap is worked out.
        "import builtins\nfor number in range(2000): _oh[number + 10] = [bytearray(70_000)]",
    ],
    ids=["objects", "outputs"],
)
def test_a_look_at_a_large_heap_leaves_the_threshold_of_malloc_where_it_was(many: str) -> None:
    script = f"SIZES = {SIZES}\n" + CELLS.format(many=many)
    assert session(script).splitlines()[-1].startswith("True")
