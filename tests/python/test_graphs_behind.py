"""Autograd graphs of tensors that the objects in a container have."""

from __future__ import annotations

import pytest
from shells import MIB, Session

torch = pytest.importorskip("torch")

MAKE = """
import torch
from torch.distributions import Categorical
net = torch.nn.Sequential(torch.nn.Linear(8, 256), torch.nn.Tanh(), torch.nn.Linear(256, 4))
def act(memory, grad=True):
    with torch.set_grad_enabled(grad):
        policy = Categorical(logits=net(torch.ones(1024, 8)))
    policy.sample()
    memory.append((1.0, policy))
memory = []
"""
FILL = "for _ in range(4): act(memory)"


def graphs(session: Session, *cells: str) -> dict[str, tuple[int, str]]:
    for cell in cells:
        assert session.run(cell)
    session.shell.run_line_magic("leakcheck", "")
    found = [it for it in session.watcher.findings() if it.code == "XL101"]
    return {it.key: ((it.bytes or 0) // MIB, it.fixes[0].code or "") for it in found}


def test_graphs_that_objects_share_among_their_tensors_are_let_go(session: Session) -> None:
    [(key, (size, code))] = graphs(session, MAKE, FILL, "print('on')").items()
    assert (key, size) == ("memory", 4)
    assert graphs(session, code) == {}
    assert session.run("assert all(it.logits.shape == (1024, 4) for _, it in memory)")


@pytest.mark.parametrize("fill", [FILL.replace("memory)", "memory, grad=False)"), "act(memory)"])
def test_without_graphs_or_with_one_it_is_silent(session: Session, fill: str) -> None:
    assert graphs(session, MAKE, fill, "print('on')") == {}
