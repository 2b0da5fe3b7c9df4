"""Plays one case under a peer that looks at a running process, and prints its answer as JSON.

python tests/truth/peer_child.py guppy3|objgraph|memray CASE.py
Started by peers.py, in a process and a folder of its own. A peer gets what its reader would do for it: the
libraries that the case imports are there before it looks, so that nothing of theirs stands in its answer.
"""

import asyncio
import importlib
import io
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cases
from play import Player

_CELL = re.compile(r"<ipython-input-(\d+)-")


@dataclass(frozen=True)
class Answer:
    """What a peer names first: text that may hold the holder, bytes, and a line of the notebook."""

    text: str = ""
    bytes: int | None = None
    execution: int | None = None
    line: int | None = None


def with_guppy3(play: Callable[[], None]) -> Answer:
    """The largest kind of object that is new, and the shortest paths to it."""
    hpy = importlib.import_module("guppy").hpy()
    hpy.setrelheap()
    play()
    largest = hpy.heap()[0]
    return Answer(f"{largest.kind}\n{largest.shpaths}", largest.size)


def with_objgraph(play: Callable[[], None]) -> Answer:
    """The type that grew most in number, and the chain that keeps the newest of it, as its picture says it."""
    objgraph = importlib.import_module("objgraph")
    objgraph.growth()
    play()
    grown = objgraph.growth(limit=1)
    if not grown:
        return Answer()
    newest = objgraph.by_type(grown[0][0])[-1:]
    picture = io.StringIO()
    chain = objgraph.find_backref_chain(newest[0], objgraph.is_proper_module)
    objgraph.show_chain(chain, output=picture)
    return Answer(f"{grown[0][0]}\n{picture.getvalue()}")


def with_memray(play: Callable[[], None]) -> Answer:
    """The line of the notebook below which most was allocated that nobody freed."""
    memray = importlib.import_module("memray")
    with memray.Tracker("allocations.bin"):
        play()
    sizes: defaultdict[tuple[int, int], int] = defaultdict(int)
    reader = memray.FileReader("allocations.bin")
    for record in reader.get_leaked_allocation_records(merge_threads=True):
        if place := _place(record.stack_trace()):
            sizes[place] += record.size
    if not sizes:
        return Answer()
    (execution, line), size = max(sizes.items(), key=lambda item: item[1])
    return Answer("", size, execution, line)


def _place(frames: list[tuple[str, str, int]]) -> tuple[int, int] | None:
    """The innermost line of a cell."""
    for _, name, line in frames:
        if found := _CELL.match(name):
            return int(found[1]), line
    return None


PEERS = {"guppy3": with_guppy3, "objgraph": with_objgraph, "memray": with_memray}


def main() -> int:
    peer, case = PEERS[sys.argv[1]], cases.read(Path(sys.argv[2]))
    report = os.dup(1)
    with open("output.txt", "w", encoding="utf-8") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    for name in case.needs:
        importlib.import_module(name)
    player: Any = Player(case, Path.cwd())
    answer = peer(lambda: asyncio.run(player.run_cells()))
    os.write(report, json.dumps(asdict(answer)).encode())
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
