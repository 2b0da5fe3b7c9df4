"""Where the memory of a process is, in a session of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from typing import Any

import pytest
from xleak.render.account import fragment, plain
from xleak.verdict import Account

MIB = 1 << 20
BESIDE = {"resident_bytes", "child_processes_bytes"}
PARTS = {field.name for field in fields(Account)} - BESIDE

PROGRAM = """
import json, sys
from dataclasses import asdict
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "xleak")
for cell in json.loads(sys.argv[1]):
    shell.run_cell(cell, store_history=True)

from xleak.shell.heap import take_snapshot
from xleak.shell.process_account import account_of, resident_pages
from xleak.shell.watcher import watcher

pages = resident_pages()
found = account_of(watcher(), take_snapshot(watcher()), pages)
account, alive = found or (None, {})
rows = {cell: [asdict(it) for it in its] for cell, its in alive.items()}
print("\\n" + json.dumps([account and asdict(account), rows]))
"""


def account(*cells: str, **environment: str) -> Any:
    return accounts(*cells, **environment)[0]


def accounts(*cells: str, **environment: str) -> Any:
    """(account, by cell what it made that is alive)."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(cells)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return json.loads(done.stdout.splitlines()[-1])


def rise(more: Any, less: Any, part: str) -> float:
    return float(more[part] - less[part]) / MIB


@pytest.fixture(scope="module")
def empty() -> Any:
    return account("import numpy as np")


def test_the_parts_add_up_to_what_is_in_memory(empty: Any) -> None:
    found = account("import numpy as np", "a = np.ones(4 << 20)", "np.ones(2 << 20)")
    parts = {name: size for name, size in found.items() if name in PARTS}
    assert sum(parts.values()) == found["resident_bytes"]
    assert found["unknown_bytes"] <= 0.05 * found["resident_bytes"]
    assert rise(found, empty, "resident_bytes") == pytest.approx(48, abs=4)


@pytest.mark.parametrize(
    ("cell", "part"),
    [
        ("a = np.ones(4 << 20)", "names_bytes"),
        ("a = [np.ones(20_000) for _ in range(210)]", "names_bytes"),
        ("a = [str(number) * 9 for number in range(330_000)]", "names_bytes"),
        ("np.ones(4 << 20)", "shown_bytes"),
        ("import sys\nsys.kept = np.ones(4 << 20)", "unnamed_bytes"),
        (
            "import ctypes; libc = ctypes.CDLL(None); libc.malloc.restype = ctypes.c_void_p\n"
            "at = libc.malloc(32 << 20); size = ctypes.memset(at, 1, 32 << 20) and None",
            "native_bytes",
        ),
    ],
)
def test_what_a_cell_makes_is_in_its_part(cell: str, part: str, empty: Any) -> None:
    found = account("import numpy as np", cell)
    of_part = rise(found, empty, part)
    assert of_part == pytest.approx(rise(found, empty, "resident_bytes"), abs=3)
    assert of_part > 20


def test_what_a_program_that_a_cell_started_takes_stands_beside_the_parts(empty: Any) -> None:
    start = (
        "import subprocess, sys\n"
        "text = 'a = bytearray(b\"x\") * (32 << 20); print(flush=True); input()'\n"
        "child = subprocess.Popen([sys.executable, '-c', text], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "child.stdout.readline()"
    )
    found = account("import numpy as np", start)
    assert 32 < rise(found, empty, "child_processes_bytes") < 48
    assert rise(found, empty, "resident_bytes") < 8
    assert "processes that it started, beside it" in plain(Account(**found)).splitlines()[-1]


def test_each_cell_has_what_it_made_by_who_has_it() -> None:
    _, alive = accounts(
        "import numpy as np, sys",
        "a = np.ones(1 << 20); b = [np.ones(1 << 19)]",
        "np.ones(1 << 19)",
        "sys.kept = np.ones(1 << 18)",
        "b.append(a); gone = np.ones(1 << 19); del gone",
    )
    assert next(it["owner"] for it in alive.pop("1")) == "imports"
    assert alive == {
        "2": [
            {"owner": "names", "name": "a", "bytes": pytest.approx(8 * MIB, rel=0.01)},
            {"owner": "names", "name": "b", "bytes": pytest.approx(4 * MIB, rel=0.01)},
        ],
        "3": [{"owner": "shown", "name": "Out[3]", "bytes": pytest.approx(4 * MIB, rel=0.01)}],
        "4": [{"owner": "unnamed", "name": None, "bytes": pytest.approx(2 * MIB, rel=0.01)}],
    }


def test_pages_that_were_never_written_are_nowhere(empty: Any) -> None:
    found = account("import numpy as np", "a = np.zeros(64 << 20)")
    assert rise(found, empty, "names_bytes") < 1


def test_without_the_ledger_there_is_no_account() -> None:
    assert account("x = 1", XLEAK_LEDGER="0") is None


def test_an_account_is_a_table_of_its_parts_that_are_not_empty() -> None:
    account = Account(
        resident_bytes=100 * MIB,
        names_bytes=20 * MIB,
        shown_bytes=0,
        unnamed_bytes=0,
        native_bytes=0,
        imports_bytes=70 * MIB,
        small_bytes=0,
        free_bytes=10 * MIB,
        shared_bytes=0,
        unknown_bytes=0,
    )
    assert plain(account).splitlines() == [
        "  bytes  where the memory of the process is",
        " 20 MiB  names lead to it",
        " 70 MiB  libraries and what their imports made",
        " 10 MiB  free, kept by allocators for later",
        "100 MiB  all of it",
    ]
    assert ">names lead to it</td>" in fragment(account)
