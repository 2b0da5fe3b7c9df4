"""Parameters that nothing but an optimizer has."""

from __future__ import annotations

import pytest
from shells import MIB, Session

torch = pytest.importorskip("torch")

START = """
import torch
mixer = torch.nn.Linear(256, 1)
opt = torch.optim.Adam(mixer.parameters())
def season():
    players = torch.nn.Embedding(1_000, 256)
    opt.add_param_group({"params": players.parameters()})
    opt.zero_grad()
    mixer(players.weight).sum().backward()
    opt.step()
    return players
"""
SEASONS = "for _ in range(3): players = season()"


def reported(session: Session, *cells: str) -> dict[str, tuple[int, str]]:
    for cell in cells:
        assert session.run(cell)
    session.shell.run_line_magic("leakcheck", "")
    found = [it for it in session.watcher.findings() if "parameters that" in it.message]
    return {it.key: ((it.bytes or 0) // MIB, it.fixes[0].code) for it in found}


def test_parameters_of_earlier_rounds_are_reported_until_they_are_taken_out(
    session: Session,
) -> None:
    [(place, (size, repair))] = reported(session, START, SEASONS, "print('on')").items()
    # Two embeddings, and two moments of each.
    assert (place, size) == ("opt", 5)
    assert reported(session, repair) == {}
    assert session.run("opt.zero_grad(); mixer(players.weight).sum().backward(); opt.step()")


@pytest.mark.parametrize(
    "cells",
    [
        [START, "players = season()", "print('on')"],
        [START, "kept = [season() for _ in range(3)]", "print('on')"],
        [
            "import torch; image = torch.randn(512, 1024, requires_grad=True)",
            "opt = torch.optim.SGD([image], 0.1); del image",
            "print('on')",
        ],
    ],
)
def test_what_a_name_or_a_model_has_and_what_is_learned_alone_is_silent(
    session: Session, cells: list[str]
) -> None:
    assert reported(session, *cells) == {}
