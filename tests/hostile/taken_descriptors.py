"""Runs cells in a shell whose second one closes all descriptors and takes their numbers; prints what became of them.

`python taken_descriptors.py pipe|file FILE`
"""

from __future__ import annotations

import json
import os
import sys

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

TEXT = b"123 456 789\n" * 9
START = 7

CLOSE_AND_TAKE = """
import fcntl, os, time

def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end: pass

work(0.02)
taken = [int(it) for it in os.listdir("/proc/self/fd") if int(it) > 2]
os.closerange(3, max(taken) + 1)
if KIND == "pipe":
    reading, writing = os.pipe()
    os.write(writing, TEXT)
    kept = [fcntl.fcntl(it, fcntl.F_DUPFD, max(taken) + 1) for it in (reading, writing)]
    for number in taken: os.dup2(kept[0], number)
else:
    for number in taken:
        fresh = os.open(FILE, os.O_RDWR)
        if fresh != number: os.dup2(fresh, number)
        os.lseek(number, START, os.SEEK_SET)
before = [(it.st_dev, it.st_ino) for it in map(os.fstat, taken)]
work(0.1)
"""


def identity(number: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(number)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def main(kind: str, file: str) -> None:
    with open(file, "wb") as stream:
        stream.write(TEXT)
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.run_line_magic("load_ext", "xleak")
    names = {"KIND": kind, "FILE": file, "TEXT": TEXT, "START": START}
    shell.user_ns.update(names)
    for cell in ("1", CLOSE_AND_TAKE, "work(0.1)", "%leakcheck", "%xleak policy off", "work(0.1)"):
        shell.run_cell(cell, store_history=True).raise_error()
    taken = shell.user_ns["taken"]
    found = {
        "numbers": len(taken),
        "same": [identity(it) for it in taken] == shell.user_ns["before"],
    }
    if kind == "pipe":
        found["untouched"] = os.read(shell.user_ns["kept"][0], 2 * len(TEXT)) == TEXT
    else:
        found["untouched"] = {os.lseek(it, 0, os.SEEK_CUR) for it in taken} == {START}
    print(json.dumps(found))


main(*sys.argv[1:])
