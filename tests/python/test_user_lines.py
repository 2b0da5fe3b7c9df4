"""The user's line, read from the frames of a thread where they lie."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import json
import os
import subprocess
import sys
import sysconfig
import textwrap
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from cells_with_lines import CELL, Place, here, reader, run
from xleak import _native
from xleak._native import line_here, line_in

__all__ = ["reader"]
pytestmark = pytest.mark.usefixtures("reader")

# --- kinds of frames ---------------------------------------------------------------------------

KINDS = {
    "a lambda": ("f = lambda: (\n  line_here())\nplace = f()", 2, "<lambda>"),
    "a decorated function": (
        "def twice(f):\n  return lambda: f()\n@twice\ndef g():\n  return line_here()\nplace = g()",
        *(5, "g"),
    ),
    "a method": (
        "class A:\n  def __init__(self):\n    self.p = line_here()\nplace = A().p",
        3,
        "__init__",
    ),
    "the body of a class": ("class A:\n\n  p = line_here()\nplace = A.p", 3, "A"),
    "a handler": ("try:\n  1 / 0\nexcept ZeroDivisionError:\n  place = line_here()", 4, "<module>"),
    "a block that ends": ("try:\n  pass\nfinally:\n  place = line_here()", 4, "<module>"),
    "a call over lines": (
        "place = max(\n  [1],\n  key=lambda _: 1,\n) and line_here()",
        4,
        "<module>",
    ),
    "a key function": (
        "seen = []\ndef key(it):\n  seen.append(line_here())\n  return it\n"
        "sorted([2, 1], key=key)\nplace = seen[0]",
        *(3, "key"),
    ),
    "a generator": (
        "def steps():\n  yield 1\n  yield line_here()\nit = steps()\nnext(it)\nplace = next(it)",
        *(3, "steps"),
    ),
    "a generator in a generator": (
        "def inner():\n  yield line_here()\ndef outer():\n  yield from inner()\nplace = next(outer())",
        *(2, "inner"),
    ),
    "an object that dies": (
        "seen = []\nclass A:\n  def __del__(self):\n    seen.append(line_here())\n"
        "def f():\n  a = A()\nf()\nplace = seen[0]",
        *(4, "__del__"),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_frame_has_its_line(kind: str) -> None:
    source, line, function = KINDS[kind]
    assert run(source, CELL)["place"] == (CELL, line, function)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_same_where_a_tracer_follows(kind: str) -> None:
    def tracer(frame: types.FrameType, event: str, argument: object) -> Any:
        return tracer

    source, line, function = KINDS[kind]
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        place = run(source, CELL)["place"]
    finally:
        sys.settrace(before)
    assert place == (CELL, line, function)


def test_a_comprehension_has_the_line_of_its_element() -> None:
    # From CPython 3.12 on it has no frame of its own.
    places = run("x = [\n  line_here()\n  for _ in range(3)\n]", CELL)["x"]
    assert {(file, line) for file, line, _ in places} == {(CELL, 2)}


def test_an_async_function_has_its_line_after_it_waited() -> None:
    source = """
        import asyncio
        async def inner():
            await asyncio.sleep(0)
            return line_here()
        async def outer():
            return await inner()
        """
    assert asyncio.run(run(source, CELL)["outer"]()) == (CELL, 5, "inner")


def test_a_library_that_calls_itself_100_times_is_passed() -> None:
    file = os.path.join(sysconfig.get_path("purelib"), "deep.py")
    deep = run("def call(n): return call(n - 1) if n else line_here()", file)["call"]
    expected = here("test_a_library_that_calls_itself_100_times_is_passed", 1)
    assert deep(100) == expected


def test_a_function_that_calls_itself_100_times_has_its_line() -> None:
    deep = run("def call(n):\n  return call(n - 1) if n else line_here()", CELL)["call"]
    assert deep(100) == (CELL, 2, "call")


def test_frames_of_c_lie_between() -> None:
    seen: list[Place | None] = []
    hook = functools.partial(lambda pairs: seen.append(line_here()))
    json.loads('{"a": 1}', object_pairs_hook=hook)
    assert seen == [here("<lambda>", -2)]


# --- without the GIL, threads, processes -------------------------------------------------------


def test_it_needs_no_gil() -> None:
    def callback(read: Callable[[], None]) -> None:
        read()

    assert line_in(callback) == here("callback", -2)
    assert line_in(lambda read: read()) == here("<lambda>")
    assert _native.line_without_gil() == here("test_it_needs_no_gil")


def test_threads_that_read_at_once_each_have_their_own_line() -> None:
    def function(cell: int) -> Callable[[], list[Place | None]]:
        source = "def f():\n" + "\n" * cell + "  return [line_without_gil() for _ in range(20)]"
        names = {"line_without_gil": _native.line_without_gil}
        read: Callable[[], list[Place | None]] = run(source, f"/tmp/cell{cell}.py", **names)["f"]
        return read

    def places(read: Callable[[], list[Place | None]]) -> set[Any]:
        return {place and place[:2] for place in read()}

    functions = [function(cell) for cell in range(8)]
    with ThreadPoolExecutor(8) as pool:
        at_once = list(pool.map(places, functions))
    for cell, read in enumerate(functions):
        own = (f"/tmp/cell{cell}.py", 2 + cell)
        # None: another thread was adding a place, which may take as long as it has to wait for a processor.
        assert at_once[cell] <= {own, None}
        assert places(read) == {own}


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_process_has_its_lines() -> None:
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            _native.read_lines(100, forgetting=True, without_gil=True)

    thread = threading.Thread(target=churn)
    thread.start()
    codes = set()
    for _ in range(20):
        process = os.fork()
        if process == 0:
            # The thread is not here, whatever it was doing, and nobody has asked for this line yet.
            try:
                expected = here("test_a_child_process_has_its_lines", 1)
                os._exit(0 if line_here() == expected else 1)
            finally:
                os._exit(2)
        codes.add(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
    stop.set()
    thread.join()
    assert codes == {0}


ENDS = """
import sys, threading
from xleak import _native
_native.install_line_reader()
begun = [threading.Event() for _ in range(3)]
def churn(event):
    event.set()
    # Python ends before this does: whoever comes back for the GIL then is ended in C's frames.
    _native.read_lines(1 << 60, without_gil=True)
for event in begun:
    threading.Thread(target=churn, args=[event], daemon=True).start()
for event in begun:
    event.wait()
sys.exit(3)
"""


def test_python_ends_well_while_threads_read(tmp_path: Any) -> None:
    program = tmp_path / "ends.py"
    program.write_text(ENDS)
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, program], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (3, "")


# --- what is remembered ------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["/tmp/cells/{:04}.py", "/tmp/cells/same.py"])
def test_code_at_the_address_of_code_that_died_has_its_own_line(file: str) -> None:
    addresses = set()
    for lines in range(300):
        name = file.format(lines)
        code = compile("\n" * lines + "place = line_here()", name, "exec")
        addresses.add(id(code))
        names = {"line_here": line_here}
        exec(code, names)
        assert names["place"] == (name, lines + 1, "<module>")  # type: ignore[comparison-overlap]
        del code, names
    assert len(addresses) < 300


def test_more_lines_than_are_remembered_are_still_right() -> None:
    count = 6000
    cell = compile("add(line_here())\n" * count, CELL, "exec")
    for _ in range(2):
        places: list[Place] = []
        exec(cell, {"line_here": line_here, "add": places.append})
        assert [line for _, line, _ in places] == list(range(1, count + 1))


def test_it_counts_no_reference_and_makes_no_object() -> None:
    code = compile("read(3)", CELL, "exec")
    names = {"read": lambda times: _native.read_lines(times, forgetting=True)}
    exec(code, names)
    counts = [sys.getrefcount(it) for it in (code, code.co_filename, code.co_name)]
    blocks = sys.getallocatedblocks()
    for _ in range(10):
        exec(code, names)
    assert [sys.getrefcount(it) for it in (code, code.co_filename, code.co_name)] == counts
    assert abs(sys.getallocatedblocks() - blocks) < 10


def code_objects(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_objects(constant)


@pytest.mark.parametrize("module", [asyncio.events, contextlib, inspect, json.decoder, textwrap])
def test_every_instruction_has_the_line_that_python_gives_it(module: types.ModuleType) -> None:
    compared = 0
    module_code = compile(inspect.getsource(module), "f.py", "exec")
    for code in code_objects(module_code):
        for start, end, line in code.co_lines():
            for offset in range(start, end, 2) if line is not None else ():
                assert _native.line_at(code, offset) == line
                compared += 1
    assert compared > 100
    assert _native.line_at(module_code, -1) == module_code.co_firstlineno
