"""The guard in a plain IPython, by `%load_ext xleak`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from shells import Session
from xleak import _native
from xleak.shell import guard
from xleak.shell.settings import Xleak

MIB = 1 << 20
# In a process of its own, whose data may grow by so much.
LIMITED = f"""
import resource, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
shell.run_line_magic("load_ext", "xleak")
data = [line for line in open("/proc/self/status") if line.startswith("VmData")][0].split()[1]
resource.setrlimit(resource.RLIMIT_DATA, ((int(data) << 10) + {400 * MIB}, resource.RLIM_INFINITY))
# Without any room IPython itself cannot go on.
# As many names as a long session has.
shell.user_ns.update((f"_i{{number}}", "") for number in range(1, 3000))
cell = '''
kept = []
try:
    while True: kept.append(b'x' * (1 << 20)); sum(range(100_000))
except MemoryError:
    del kept[-32:]
    raise'''
print(type(shell.run_cell(cell, store_history=True).error_in_exec).__name__)
print(shell.run_cell("len(kept) > 100", store_history=True).result)
"""


def ran(**env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LIMITED]
    environment = {**os.environ, **env}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def test_a_cell_of_a_plain_ipython_is_stopped_too() -> None:
    done = ran(XLEAK_GUARD="interrupt")
    assert "MemoryGuardError\n" in done.stdout
    assert done.stdout.rstrip().endswith("True")


def test_without_being_told_to_the_guard_warns_and_the_cell_ends_as_it_would_have() -> None:
    done = ran()
    assert "xleak guard: Memory is nearly out: " in done.stderr
    assert "`kept` (0 to " in done.stderr
    assert "MemoryError\n" in done.stdout
    assert "MemoryGuardError" not in done.stdout


@pytest.mark.parametrize("name", ["XLEAK_GUARD", "XLEAK_POLICY"])
def test_the_policy_off_of_either_switches_the_guard_off(name: str) -> None:
    done = ran(**{"XLEAK_GUARD": "interrupt", name: "off"})
    assert "MemoryError\n" in done.stdout
    assert "guard" not in done.stderr


def test_a_slip_in_the_environment_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XLEAK_GUARD", "loud")
    assert Xleak().guard == "warn"
    assert "XLEAK_GUARD is 'loud'; it may be off, warn or interrupt." in capsys.readouterr().err
    _native.set_guard("off")


def test_only_the_code_of_a_cell_may_be_stopped_and_neither_a_finalizer_nor_xleak(
    session: Session,
) -> None:
    asked: list[bool] = []
    session.shell.user_ns["ask"] = lambda frame: asked.append(
        guard.runs_user_code(session.shell, frame)
    )
    session.run("import sys\nask(sys._getframe())")
    session.run("def deep(): ask(sys._getframe())\ndeep()")
    session.run("class Late:\n    def __del__(self): ask(sys._getframe())\nLate();")
    session.run("sorted([1], key=lambda it: ask(sys._getframe()))")
    session.run("import asyncio\nawait asyncio.sleep(0)\nask(sys._getframe())")
    session.run(
        "own = dict(__name__='xleak.magics', ask=ask, sys=sys)\n"
        "exec('def report(): ask(sys._getframe())', own)\nown['report']()"
    )
    assert asked == [True, True, False, True, True, False]
    assert not guard.runs_user_code(session.shell, sys._getframe())


def test_an_exception_class_of_the_public_interface_is_a_memory_error() -> None:
    import xleak

    assert issubclass(xleak.MemoryGuardError, MemoryError)
    assert xleak.MemoryGuardError.__module__ == "xleak"
