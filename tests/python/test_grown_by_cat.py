"""What is measured of tensors that a loop grows, and how long it is told."""

from __future__ import annotations

import pytest
import torch
from shells import Session
from torch_process import _torch
from xleak import _native

PART = 1 << 16
PARTS = f"import torch\nparts = [torch.arange({PART}.0) + n for n in range(20)]"
LOOP = "x = torch.empty(0)\nfor p in parts[:count]:\n    x = torch.cat([x, p])"


def grown() -> torch.Tensor:
    x = torch.empty(0)
    for n in range(10):
        x = torch.cat([x, torch.arange(float(PART)) + n])
    return x


def told() -> list[str]:
    return [it.message for it in _native.findings() if it.code == "XL110"]


@pytest.fixture
def loaded(session: Session) -> Session:
    # The cell that imports torch is not counted; here it came long ago.
    session.run(f"{PARTS}; count = 20")
    return session


# --- what is measured ------------------------------------------------------------------------


@pytest.fixture
def counted() -> None:
    _torch.install()
    _torch.begin_cell(1)


@pytest.mark.usefixtures("counted")
def test_a_tensor_that_is_concatenated_with_itself_is_measured() -> None:
    x = grown()
    _torch.end_cell(1)
    assert _torch.grown() == [(x.data_ptr(), x.nbytes, 45 * 4 * PART, 9)]


@pytest.mark.usefixtures("counted")
def test_along_another_dimension_it_is_the_same() -> None:
    x, part = torch.rand(4096, 16), torch.rand(4096, 16)
    for _ in range(10):
        x = torch.cat([x, part], dim=1)
    _torch.end_cell(1)
    assert [(address, steps) for address, _, _, steps in _torch.grown()] == [(x.data_ptr(), 10)]


@pytest.mark.usefixtures("counted")
def test_a_list_that_is_concatenated_once_is_not() -> None:
    torch.cat([torch.rand(PART) for _ in range(20)])
    _torch.end_cell(1)
    assert _torch.grown() == []


@pytest.mark.usefixtures("counted")
def test_a_training_loop_grows_nothing() -> None:
    model = torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(8)))
    optimizer = torch.optim.Adam(model.parameters())
    for rows in range(64, 128, 4):
        optimizer.zero_grad()
        model(torch.rand(rows, 256)).sum().backward()
        optimizer.step()
    _torch.end_cell(1)
    assert _torch.grown() == []


@pytest.mark.usefixtures("counted")
def test_the_next_cell_starts_with_nothing_grown() -> None:
    grown()
    _torch.end_cell(1)
    assert _torch.grown()
    _torch.begin_cell(2)
    assert _torch.grown() == []
    _torch.end_cell(2)


# --- how long it is told ---------------------------------------------------------------------


def test_it_is_told_with_what_was_copied_for_what(loaded: Session) -> None:
    loaded.run(LOOP)
    assert len(told()) == 1
    assert "`x = torch.cat(…)` ran 19 times: 47.5 MiB" in told()[0]
    assert "for a result of 5 MiB" in told()[0]


def test_it_is_told_until_the_cell_runs_again_without_the_copies(loaded: Session) -> None:
    loaded.run(LOOP)
    loaded.run("y = 1")
    loaded.run("del x")
    assert len(told()) == 1
    loaded.run(LOOP)
    assert len(told()) == 1
    loaded.run("count = 5")
    loaded.run(LOOP)
    assert told() == []


def test_it_is_told_until_the_cell_is_repaired(loaded: Session) -> None:
    loaded.shell.run_cell(LOOP, store_history=True, cell_id="a")
    loaded.watcher.idle(lambda: False)
    assert len(told()) == 1
    loaded.shell.run_cell(LOOP.replace("x", "y"), store_history=True, cell_id="b")
    loaded.watcher.idle(lambda: False)
    assert len(told()) == 2
    loaded.shell.run_cell("x = torch.cat(parts)", store_history=True, cell_id="a")
    loaded.watcher.idle(lambda: False)
    assert [message[:13] for message in told()] == ["In a loop `y "]


def test_two_that_grow_in_a_function_are_told_as_either_one(loaded: Session) -> None:
    loaded.run("""def gather():
    x, y = torch.empty(0), torch.empty(0)
    for p in parts:
        x = torch.cat([x, p])
        y = torch.cat([y, p, p])
    return x.sum() + y.sum()""")
    loaded.run("gather()")
    assert ["`x = torch.cat(…)` or `y = torch.cat(…)` ran 19 times" in it for it in told()] == [
        True
    ]


def test_a_function_of_another_library_or_of_the_users_is_not_torchs(loaded: Session) -> None:
    loaded.run("def cat(tensors): return torch.cat(tensors)")
    loaded.run("import numpy as np")
    loaded.run(LOOP.replace("torch.cat(", "cat("))
    loaded.run("x = np.empty(0)\nfor p in parts:\n    x = np.concatenate([x, p.numpy()])")
    assert told() == []


def test_a_name_whose_tensor_is_another_one_is_not_blamed_for_it(loaded: Session) -> None:
    loaded.run(
        "x, small = parts[0], torch.empty(0)\n"
        "for p in parts:\n"
        "    x = torch.nn.functional.pad(x, (0, 1 << 14))\n"
        "    small = torch.cat([small, p[:1]])"
    )
    assert [copied > 0 for _, _, copied, _ in _torch.grown()] == [True]
    assert told() == []
