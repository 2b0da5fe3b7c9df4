"""Hooks are told by what their code fills and by the runs that made them, and stay as they are."""

from __future__ import annotations

import pytest
import torch
from shells import Session

MAKE = """
import torch
net = torch.nn.Linear(600, 700)
"""
FILL = "for _ in range(3): net(torch.rand(500, 600))"


def codes(session: Session) -> list[str]:
    return [finding.code for finding in session.watcher.findings()]


def test_a_hook_without_a_handle_is_told_until_it_is_gone(
    session: Session,
) -> None:
    session.run(MAKE + "acts = []\nhook = lambda m, a, out: acts.append(out.detach())")
    session.run("net.register_forward_hook(hook);")
    session.run(FILL)
    assert codes(session) == ["XL107"]
    session.run("acts.clear(); net._forward_hooks.clear()")
    assert codes(session) == []


def test_as_long_as_a_name_has_the_handle_the_hook_is_in_use(session: Session) -> None:
    session.run(MAKE + "acts = []\nhook = lambda m, a, out: acts.append(out.detach())")
    session.run("handle = net.register_forward_hook(hook)")
    session.run(FILL)
    assert codes(session) == []
    session.run("del handle")
    assert codes(session) == ["XL107"]
    session.run("acts.clear(); net._forward_hooks.clear()")


def test_a_cell_that_ran_twice_has_hooks_of_two_runs(session: Session) -> None:
    session.run(MAKE)
    register = "net.register_forward_hook(lambda m, a, out: out * 2);"
    session.run(register)
    assert codes(session) == []
    session.run(register)
    assert codes(session) == ["XL107"]
    [found] = session.watcher.findings()
    session.run(found.fixes[0].code)
    assert codes(session) == []
    assert len(session.shell.user_ns["net"]._forward_hooks) == 1


@pytest.mark.parametrize("grows", ["acts.append(out)", "acts[0].extend([out])", "acts[m] = 1"])
def test_no_code_of_the_object_of_a_hook_runs(session: Session, grows: str) -> None:
    session.run(f"""
import torch
class Hostile:
    def __init__(self): object.__setattr__(self, "acts", [])
    def _angry(self, *rest, **more): touched.append(1); raise AssertionError("xleak ran user code")
    def hook(self, m, a, out):
        if False: self.{grows}
        acts.append(out.detach())
    __eq__ = __len__ = __getattribute__ = __repr__ = __bool__ = __hash__ = __iter__ = _angry
acts, touched = [], []
net = torch.nn.Linear(600, 700)
hostile = Hostile()
net.register_forward_hook(Hostile.hook.__get__(hostile));
""")
    session.run(FILL)
    assert session.shell.user_ns["touched"] == []
    assert codes(session) == ["XL107"]
    assert torch.is_grad_enabled()
    session.run("acts.clear(); net._forward_hooks.clear()")
