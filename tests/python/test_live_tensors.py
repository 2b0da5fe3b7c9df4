"""The largest tensors, and histories in lists of lists."""

from __future__ import annotations

import pytest
from shells import Session
from xleak import _native

NET = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8))
epochs = []
"""
EPOCH = """
row = []
for _ in range(5):
    loss = net(torch.rand(512, 64)).square().mean()
    row.append(loss)
epochs.append(row)
del row, loss
"""


def test_the_report_has_the_largest_tensors_and_whether_they_are_contiguous(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run(
        "import torch\ncube = torch.ones(64, 64, 64); planes = cube.permute(2, 0, 1)\n"
        "picture = torch.ones(2, 3, 64, 64).contiguous(memory_format=torch.channels_last)"
    )
    capsys.readouterr()
    session.run("%memreport")
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["tensor", "bytes", "shape", "type", "device", "cell", "contiguous"] in rows
    [cube] = [row for row in rows if "cube," in row]
    assert cube[:2] == ["cube,", "planes"] and cube[-2:] == ["yes,", "no"]
    [picture] = [row for row in rows if row[:1] == ["picture"] and "2×3×64×64" in row]
    assert picture[-2:] == ["channels", "last"]


def test_a_list_of_lists_of_losses_is_told_once_as_what_it_is_and_its_repair_works(
    session: Session,
) -> None:
    session.run(NET)
    for _ in range(4):
        session.run(EPOCH)
    session.run("1")
    [found] = _native.findings()
    assert (found.code, found.key) == ("XL102", "epochs")
    assert "20 losses in epochs" in found.message
    assert session.run(found.fixes[0].code)
    session.run("1")
    assert _native.findings() == []
    assert session.run("assert not any(loss.requires_grad for row in epochs for loss in row)")


def test_histories_under_names_of_their_own_stay_apart(session: Session) -> None:
    session.run(NET + "epochs = {'train': [], 'test': [], 'other': []}")
    for name in ("train", "test", "other"):
        session.run(EPOCH.replace("epochs.append(row)", f"epochs['{name}'] += row"))
    session.run("1")
    keys = {it.key for it in _native.findings() if it.code == "XL102"}
    assert keys == {"epochs['train']", "epochs['test']", "epochs['other']"}
