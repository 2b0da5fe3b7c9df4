"""Gradients with a graph: those that nobody reaches are let go of, all others stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import xleak
from allocators import malloc_bytes
from shells import MIB, Session

DIFFERENTIATE = """
import torch
def differentiated():
    net = torch.nn.Sequential(torch.nn.Linear(300, 500), torch.nn.Tanh(), torch.nn.Linear(500, 300))
    loss = net(torch.rand(600, 300)).square().mean()
    loss.backward(create_graph=True)
    return net, loss
"""

pytestmark = pytest.mark.filterwarnings("ignore:Using backward")


@pytest.fixture(autouse=True)
def nothing_is_left_behind(session: Session) -> Iterator[None]:
    yield
    session.run("for name in ('net', 'loss', 'weights'): globals().pop(name, None)")
    session.run("%release_cache")


def kept_gradients(model: Any) -> int:
    return sum(leaf.grad is not None for leaf in model.parameters())


def test_parameters_that_only_their_gradients_keep_are_released(session: Session) -> None:
    session.run(DIFFERENTIATE)
    session.run("net = differentiated()[0]")
    session.run("del net")
    gc.collect()
    [found] = [it for it in session.watcher.findings() if it.code == "XL205"]
    before = malloc_bytes()
    session.run("%release_cache")
    assert before - malloc_bytes() == pytest.approx(found.bytes, rel=0.05)
    assert session.watcher.findings() == []


def test_gradients_of_a_model_with_a_name_stay(session: Session) -> None:
    session.run(DIFFERENTIATE)
    session.run("net = differentiated()[0]")
    session.run("%release_cache")
    assert kept_gradients(session.shell.user_ns["net"]) == 4


def test_gradients_of_a_graph_that_a_name_keeps_stay(session: Session) -> None:
    session.run(DIFFERENTIATE)
    session.run("loss = differentiated()[1]")
    session.run("%release_cache")
    step = xleak.release_cache("gradients", dry_run=True)[0]
    assert step.title == "Gradients that keep their Parameters"
    assert step.detail == "none"


def test_a_dry_run_counts_them_and_keeps_them(session: Session) -> None:
    session.run(DIFFERENTIATE)
    session.run("net = differentiated()[0]")
    session.run("del net")
    before = malloc_bytes()
    assert xleak.release_cache("gradients", dry_run=True)[0].detail == "4 that no name reaches"
    assert before - malloc_bytes() < MIB


def test_no_function_of_a_tensor_s_class_is_called(session: Session) -> None:
    session.run("""
import torch
class Watched(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        calls.append(func)
        return super().__torch_function__(func, types, args, kwargs or {})
    def __hash__(self):
        calls.append("hash")
        return 1
calls = []
weights = torch.rand(900, 900).as_subclass(Watched).requires_grad_()
(weights * weights).sin().sum().backward(create_graph=True)
""")
    session.run("calls.clear()")
    session.run("shape = 1")
    assert [it.holders for it in session.watcher.findings()] == [["weights"]]
    assert session.shell.user_ns["calls"] == []
    assert torch.is_grad_enabled()
