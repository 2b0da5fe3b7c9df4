"""Objects of the user's classes that native code alone has."""

from __future__ import annotations

import pytest
from shells import MIB, Session

torch = pytest.importorskip("torch")

MAKE = """
import torch
from torch.overrides import TorchFunctionMode
class Recorder(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.results = []
    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.results.append(result)
        return result
def recorded(work):
    mode = Recorder()
    mode.__enter__()
    work()
"""
LEAVE = "torch.overrides._get_current_function_mode().__exit__(None, None, None)"


def out_of_reach(session: Session, *cells: str) -> list[tuple[str, int]]:
    for cell in cells:
        assert session.run(cell)
    session.shell.run_line_magic("leakcheck", "")
    found = [it for it in session.watcher.findings() if it.code == "XL421"]
    return [(it.message.split(" keeps ")[0], (it.bytes or 0) // MIB) for it in found]


def test_a_mode_that_was_never_left_is_reported_until_it_is(session: Session) -> None:
    cells = (MAKE, "recorded(lambda: torch.ones(1024, 1024) + 1)", "print('on')")
    assert out_of_reach(session, *cells) == [("1 object of Recorder", 8)]
    assert out_of_reach(session, LEAVE) == []


def test_one_that_a_name_leads_to_is_silent(session: Session) -> None:
    named = MAKE.replace("    mode =", "    global mode\n    mode =")
    assert out_of_reach(session, named, "recorded(lambda: torch.ones(1024, 1024) + 1)", "1") == []
    assert session.run(LEAVE)
