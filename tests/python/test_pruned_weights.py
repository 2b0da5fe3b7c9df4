"""What torch.nn.utils.prune keeps beside the weights of a model."""

from __future__ import annotations

import pytest
from shells import Session

torch = pytest.importorskip("torch")

NET = """
import torch
from torch.nn.utils import prune
net = torch.nn.Sequential(torch.nn.Linear(1024, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1))
"""
PRUNED = "prune.l1_unstructured(net[0], 'weight', amount=0.5)"
USED = "print(net(torch.ones(1, 1024)).shape)"


def test_masks_and_weights_before_pruning_are_reported_until_it_is_permanent(
    session: Session,
) -> None:
    [(place, (size, repair))] = session.reported("XL424", NET, PRUNED, USED).items()
    # The weight before, and its mask.
    assert (place, size) == ("net", 4)
    session.run("with torch.no_grad(): before = net(torch.ones(1, 1024))")
    assert (
        session.reported("XL424", repair, "assert torch.equal(net(torch.ones(1, 1024)), before)")
        == {}
    )


def test_what_was_pruned_twice_has_one_mask(session: Session) -> None:
    [(size, _)] = session.reported("XL424", NET, PRUNED, PRUNED, USED).values()
    assert size == 4


@pytest.mark.parametrize(
    "cells",
    [
        [NET, PRUNED],
        [NET, USED],
        [NET, f"{PRUNED}; prune.remove(net[0], 'weight')", USED],
        [NET.replace("512", "64"), PRUNED, USED],
    ],
    ids=["may be trained by the next cell", "not pruned", "permanent", "small"],
)
def test_other_models_are_silent(session: Session, cells: list[str]) -> None:
    assert session.reported("XL424", *cells) == {}
