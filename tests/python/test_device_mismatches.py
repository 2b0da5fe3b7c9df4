"""XL606 of a pass that failed for its devices, and of a module that was loaded in part."""

from __future__ import annotations

import gc
import sys

import pytest
from shells import Session
from xleak import _native

NET = """
import torch
from torch import nn
net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
x = torch.ones(3, 4)
"""
PARTLY = """
with torch.device("meta"):
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
net.load_state_dict({"0.weight": torch.ones(4, 4)}, strict=False, assign=True)
"""


def told(session: Session) -> list[str]:
    del session
    return [it.message for it in _native.findings() if it.code == "XL606"]


def test_a_pass_that_failed_for_its_devices_names_the_module_and_what_lies_where(
    session: Session,
) -> None:
    session.run(NET)
    assert not session.run("net.to('meta')\nloss = net(x).sum()\nloss.backward()")
    [message] = told(session)
    assert message.startswith("net[0] computes with tensors on several devices: ")
    assert "its Parameters on meta; input 1 on cpu." in message


def test_a_target_that_was_left_behind_is_an_input_of_the_loss(session: Session) -> None:
    session.run(NET + "out, target = torch.ones(3, 2, device='meta'), torch.ones(3, 2)")
    assert not session.run("nn.MSELoss()(out, target)")
    [message] = told(session)
    assert message.startswith("MSELoss computes")
    assert "input 1 on meta; input 2 on cpu." in message


def test_a_line_without_a_module_is_told_by_its_names(session: Session) -> None:
    session.run(NET + "out = torch.ones(3, 4, device='meta')")
    assert not session.run("half = 0.5\nerror = (out - x) ** half")
    [message] = told(session)
    assert message.startswith("line 2 computes") and "out on meta; x on cpu." in message


def test_a_line_of_a_forward_pass_is_told_by_its_names_and_a_batch_by_its_keys(
    session: Session,
) -> None:
    session.run(
        NET + "class Model(nn.Module):\n"
        "    def forward(self, batch, mask=None): return batch['a'] + mask\n"
        "model = Model()"
    )
    assert not session.run("model({'a': x}, mask=torch.ones(4, device='meta'))")
    [message] = told(session)
    assert "batch['a'] on cpu; mask on meta." in message


@pytest.mark.parametrize(
    "cell",
    [
        "net(torch.ones(3, 5))",
        "net(x.double())",
        "raise RuntimeError('Expected all tensors to be on the same device')",
        "class Own(RuntimeError): pass\nnet.to('meta')\ntry: net(x)\nexcept RuntimeError as e: raise Own()",
    ],
    ids=["shape", "type", "words alone", "an error of the user's"],
)
def test_another_failure_is_none_of_devices(session: Session, cell: str) -> None:
    session.run(NET)
    assert not session.run(cell)
    assert told(session) == []


def test_a_pass_that_brings_its_inputs_along_is_right(session: Session) -> None:
    session.run(NET)
    session.run(
        "class Split(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.table, self.head = nn.Embedding(9, 4), nn.Linear(4, 2, device='meta')\n"
        "    def forward(self, rows): return self.head(self.table(rows).to('meta'))\n"
        "split = Split()"
    )
    assert session.run("split(torch.arange(9))")
    assert told(session) == []


def test_what_failed_is_told_no_longer_once_another_cell_ran_and_was_looked_at(
    session: Session,
) -> None:
    session.run(NET)
    assert not session.run("net(x.to('meta'))")
    assert len(told(session)) == 1
    session.run("%leakcheck")
    session.run("%leakcheck --diagnose")
    assert len(told(session)) == 1
    session.run("net(x); big = torch.ones(1 << 20)")
    assert told(session) == []


def test_the_objects_of_the_failed_pass_are_not_kept(session: Session) -> None:
    session.run(NET)
    assert not session.run("net(x.to('meta'))")
    session.run("big = torch.ones(1 << 20)")
    session.run("1 / 0")
    gc.collect()
    # The name, and the argument of getrefcount.
    count = sys.getrefcount(session.shell.user_ns["net"])
    assert count == 2


def test_weights_without_values_after_a_load_are_told_once_they_outlive_its_cell(
    session: Session,
) -> None:
    session.run(NET)
    session.run(PARTLY)
    assert told(session) == []
    session.run("1")
    [message] = told(session)
    assert message.startswith("3 of 4 Parameters of net lie on meta after load_state_dict()")
    session.run("net = nn.Linear(2, 2)")
    assert told(session) == []


def test_a_checkpoint_in_two_cells_and_a_model_without_values_are_right(session: Session) -> None:
    session.run(NET + "state = net.state_dict()")
    session.run(PARTLY)
    session.run("net.load_state_dict(state, assign=True)")
    session.run("with torch.device('meta'): plan = nn.Linear(4, 4)")
    session.run("1")
    assert told(session) == []


def test_weights_that_are_brought_for_each_pass_are_right(session: Session) -> None:
    session.run(NET)
    session.run(PARTLY + "net[1]._hf_hook = object()")
    session.run("1")
    assert told(session) == []
