"""`xleak fix` on hundreds of files that were damaged at random: none is damaged further."""

from __future__ import annotations

import json
import random
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from test_lint import notebook
from xleak import source
from xleak.cli import main

ROOT = Path(__file__).parents[2]
STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
# What a parser or an editor may stumble over, in the midst of a file.
ODD = [
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc3\xa9",
    b"\r",
    b"\r\n",
    b"\x0c",
    b"\xe2\x80\xa8",
    b"(",
    b"]",
    b'"""',
    b"'",
    b"\\",
    b"\t",
    b"#",
    b"%%bash\n",
    b"!ls\n",
    b"NaN",
    b"1e999",
    b"\\ud83d",
    b"\\u0041",
    b'"cells": [',
    b'"source": null,',
    b"{}",
    b",",
    b"\xef\xbb\xbf",
]

Mutate = Callable[[random.Random, bytes], bytes]


@cache
def examples() -> list[tuple[str, bytes]]:
    """Scripts with a repair, the same as notebooks, and the notebooks that are here."""
    files = []
    for path in sorted((ROOT / "monitor/smells").glob("*/bad*.py")):
        if is_repairable(path.read_bytes()):
            cells = [it for it in re.split(r"(?m)^(?=# %%)", path.read_text()) if it.strip()]
            shape = json.loads(notebook(*cells))
            files += [
                (".py", path.read_bytes()),
                (".ipynb", json.dumps(shape, indent=1).encode()),
                (".ipynb", json.dumps(shape).encode()),
            ]
    own = sorted((ROOT / "notebooks").glob("*.ipynb"))
    return files + [(".ipynb", it.read_bytes()) for it in own]


def is_repairable(script: bytes) -> bool:
    findings = source.lint_text("a.py", script).report.findings
    return any(fix.safe and fix.edits for it in findings for fix in it.fixes)


def cut(chance: random.Random, data: bytes) -> bytes:
    start = chance.randrange(len(data))
    return data[:start] + data[start + chance.choice((1, 1, 2, 10, 100)) :]


def insert(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + chance.choice(ODD) + data[at:]


def repeat(chance: random.Random, data: bytes) -> bytes:
    start = chance.randrange(len(data))
    end = min(len(data), start + chance.choice((1, 5, 50, 500)))
    return data[:end] + data[start:end] + data[end:]


def swap_lines(chance: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def respell(chance: random.Random, data: bytes) -> bytes:
    """Letters as escapes, as JSON allows in a string."""
    at = chance.randrange(len(data))
    letter = data[at : at + 1]
    return data[:at] + b"\\u%04x" % letter[0] + data[at + 1 :] if letter.isalpha() else data


def end_lines(chance: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", chance.choice((b"\r\n", b"\r")))


def odd_source(chance: random.Random, data: bytes) -> bytes:
    """A notebook stays one: something odd stands in the text of a cell."""
    strings = list(STRING.finditer(data))
    if not strings:
        return insert(chance, data)
    at = chance.choice(strings).start() + 1
    return (
        data[:at] + chance.choice((rb"\ud83d", rb"\u00e9\/", rb"\u2028", "é".encode())) + data[at:]
    )


MUTATIONS: list[Mutate] = [cut, insert, repeat, swap_lines, respell, end_lines, odd_source]


def mutants(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    chance = random.Random(seed)
    known = examples()
    for _ in range(count):
        suffix, data = chance.choice(known)
        for _ in range(chance.choice((1, 1, 2, 4))):
            data = chance.choice(MUTATIONS)(chance, data)
        yield suffix, data


def parses(text: str | bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<cell>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def read(data: bytes) -> Any:
    """JSON with members in their order, also those that are there twice, and numbers as they are spelled."""
    return json.loads(
        data.decode("utf-8-sig"),
        object_pairs_hook=list,
        parse_float=str,
        parse_int=str,
        parse_constant=str,
    )


def without_sources(value: Any) -> Any:
    """The document with no text in the sources of code cells."""
    if not isinstance(value, list):
        return value
    is_object = all(isinstance(it, tuple) for it in value)
    if is_object and ("cell_type", "code") in value:
        value = [(k, "" if k in ("source", "input") else v) for k, v in value]
    return [
        (it[0], without_sources(it[1])) if isinstance(it, tuple) else without_sources(it)
        for it in value
    ]


def sources(data: bytes) -> list[str]:
    shape = json.loads(data.decode("utf-8-sig"))
    sheets = [shape] if "cells" in shape else shape["worksheets"]
    cells = [cell for sheet in sheets for cell in sheet["cells"] if cell.get("cell_type") == "code"]
    texts = [cell.get("source", cell.get("input", "")) for cell in cells]
    return [it if isinstance(it, str) else "".join(it) for it in texts]


def check_notebook(before: bytes, after: bytes) -> None:
    assert without_sources(read(after)) == without_sources(read(before))
    old, new = sources(before), sources(after)
    changed = [at for at, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    assert changed
    assert all(parses(new[at]) for at in changed if parses(old[at]))
    # Of all strings, only lines of those cells have other bytes.
    gone = Counter(STRING.findall(before)) - Counter(STRING.findall(after))
    assert all(any(json.loads(it) in old[at] for at in changed) for it in gone)


def check(suffix: str, before: bytes, after: bytes) -> None:
    if before == after:
        return
    if suffix == ".ipynb":
        check_notebook(before, after)
    else:
        assert parses(after) or not parses(before)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("options", [(), ("--unsafe-fixes",)], ids=["safe", "unsafe"])
def test_a_mutated_file_is_repaired_or_left_and_never_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int, options: tuple[str, ...]
) -> None:
    files = {}
    for number, (suffix, data) in enumerate(mutants(seed, 100)):
        path = tmp_path / f"m{number}{suffix}"
        path.write_bytes(data)
        files[path] = data
    assert main(["fix", *options, str(tmp_path)]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err
    repaired = 0
    for path, before in files.items():
        after = path.read_bytes()
        check(path.suffix, before, after)
        repaired += before != after
    assert repaired >= 10, "the mutants hold nothing to repair"
    assert {it.name for it in tmp_path.iterdir()} == {it.name for it in files}
