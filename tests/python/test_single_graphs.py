"""Single tensors that keep the graph of a forward pass."""

from __future__ import annotations

import pytest
from shells import Session

torch = pytest.importorskip("torch")

START = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64))
x = torch.randn(12_000, 64)
class Watch:
    def calibrate(self):
        errors = (net(x) - x).square().mean(1)
        self.limit = errors.mean() + 3 * errors.std()
    def keep_both(self):
        y = net(x)
        self.pair = (y, y.tanh())
watch = Watch()
"""
LIMIT = "watch.limit = watch.limit.detach()"


def test_a_number_on_an_object_keeps_its_graph_until_it_is_detached(session: Session) -> None:
    cells = [START, "watch.calibrate()", "print(float(watch.limit))", "print('on')"]
    [(place, (size, repair))] = session.reported("XL101", *cells).items()
    assert (place, repair) == ("watch.limit", LIMIT)
    assert size >= 16
    assert session.reported("XL101", repair) == {}


def test_tensors_of_one_tuple_share_a_graph(session: Session) -> None:
    cells = [START, "watch.keep_both()", "print(watch.pair[0].shape)", "print('on')"]
    [(place, (_, repair))] = session.reported("XL101", *cells).items()
    assert place == "watch.pair"
    assert session.reported("XL101", repair) == {}


@pytest.mark.parametrize(
    "later",
    [
        ["watch.limit.backward()"],
        ["def learn(): watch.limit.backward()", "learn()"],
        ["watch.limit = None"],
        [],
    ],
)
def test_what_a_backward_pass_may_need_or_the_last_cell_made_is_silent(
    session: Session, later: list[str]
) -> None:
    assert session.reported("XL101", START, "watch.calibrate()", *later) == {}
