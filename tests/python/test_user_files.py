"""Which code is the user's where its line is read, and how its file is called."""

from __future__ import annotations

import os
import sysconfig
import trace
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
import xleak
from cells_with_lines import here, reader, run
from xleak import _native
from xleak._native import line_here

__all__ = ["reader"]
pytestmark = pytest.mark.usefixtures("reader")


# --- whose it is -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file",
    [
        "/tmp/ipykernel_7/1234567.py",
        "/tmp/xpython_7/1234567.py",
        "<ipython-input-3-2bd6ee1c>",
        "<timed exec>",
        "<stdin>",
        "train.py",
        "/home/a/site-packages-demo/train.py",
        "/home/a/lib/python3/train.py",
        sysconfig.get_path("stdlib") + "-of-mine/train.py",
    ],
)
def test_a_line_of_a_cell_or_of_a_file_of_theirs_is_the_users(file: str) -> None:
    assert run("first = 1\n\nplace = line_here()", file)["place"] == (file, 3, "<module>")


@pytest.mark.parametrize(
    "file",
    [
        os.path.join(sysconfig.get_path("stdlib"), "made_up.py"),
        os.path.join(sysconfig.get_path("purelib"), "made_up", "core.py"),
        os.path.join(os.path.dirname(xleak.__file__), "shell", "made_up.py"),
        "<frozen importlib._bootstrap>",
        "<string>",
        "<__array_function__ internals>",
        "",
    ],
)
def test_code_of_a_library_has_the_line_that_called_it(file: str) -> None:
    library = run("def call(): return line_here()", file)
    expected = here("test_code_of_a_library_has_the_line_that_called_it", 1)
    assert library["call"]() == expected


def test_a_real_library_between_has_the_line_that_called_it() -> None:
    caller = trace.Trace(count=False, trace=False)
    expected = here("test_a_real_library_between_has_the_line_that_called_it", 1)
    assert caller.runfunc(line_here) == expected


def test_the_innermost_code_of_the_users_wins_though_it_is_in_another_cell() -> None:
    first = run("def load():\n    return line_here()", "/tmp/ipykernel_7/1.py")
    second = run("\n\nplace = load()", "/tmp/ipykernel_7/2.py", load=first["load"])
    assert second["place"] == ("/tmp/ipykernel_7/1.py", 2, "load")


def test_a_text_that_is_executed_has_the_line_that_had_it_run() -> None:
    names: dict[str, Any] = {"line_here": line_here}
    expected = here("test_a_text_that_is_executed_has_the_line_that_had_it_run", 1)
    exec("\n\nplace = line_here()", names)
    assert names["place"] == expected


def test_a_text_that_was_compiled_under_a_name_has_its_own_line() -> None:
    assert run("\nplace = line_here()", "steps.txt")["place"] == ("steps.txt", 2, "<module>")


def test_the_generated_code_of_a_library_has_the_line_that_called_it() -> None:
    @dataclass
    class Loaded:
        place: Any = field(default_factory=line_here)

    expected = here("test_the_generated_code_of_a_library_has_the_line_that_called_it", 1)
    assert Loaded().place == expected


def test_a_thread_of_a_library_that_runs_no_code_of_theirs_has_no_line() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(line_here).result() is None


def test_a_thread_that_python_does_not_know_has_no_line() -> None:
    assert _native.line_on_native_thread() is None


def test_without_a_reader_there_are_no_lines() -> None:
    _native.uninstall_line_reader()
    assert line_here() is None
    _native.install_line_reader()
    assert line_here() == here("test_without_a_reader_there_are_no_lines")


# --- what it is called -------------------------------------------------------------------------


class Name(str):
    """A text that is laid out otherwise."""

    def _refuse(self, *args: Any) -> Any:
        raise AssertionError("xleak ran user code")

    __len__ = __iter__ = __getitem__ = __str__ = __hash__ = _refuse


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("/home/café/été.py", "/home/café/été.py"),
        ("/home/実験/学習.py", "/home/実験/学習.py"),
        ("/home/𝔘𝔫𝔦/🙂.py", "/home/𝔘𝔫𝔦/🙂.py"),
        ("/home/\udcff/a.py", "/home/?/a.py"),
    ],
)
def test_a_name_is_read_whatever_its_characters(file: str, shown: str) -> None:
    place = run("def größe():\n  return line_here()\nplace = größe()", file)["place"]
    assert place == (shown, 2, "größe")


@pytest.mark.parametrize("file", ["/home/a/train.py", "/home/学習/train.py"])
def test_a_name_of_a_class_of_their_own_is_read_without_its_code(file: str) -> None:
    code = compile("\nplace = line_here()", "x", "exec").replace(co_filename=Name(file))
    names: dict[str, Any] = {"line_here": line_here}
    exec(code, names)
    assert names["place"] == (file, 2, "<module>")


def test_a_long_name_keeps_its_end() -> None:
    file = "/home" + "/実験" * 200 + "/train.py"
    shown = run("place = line_here()", file)["place"][0]
    assert shown.startswith("…")
    assert file.endswith(shown[1:])
    assert len(shown) > 70
