"""`%xleak watch`: tensors made since a moment, without keeping any."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from shells import Session
from torch_process import _torch

# Runs a cell and returns what it printed.
Run = Callable[[str], str]


@pytest.fixture
def run(session: Session, capsys: pytest.CaptureFixture[str]) -> Run:
    def printed(source: str) -> str:
        capsys.readouterr()
        session.run(source)
        return "".join(capsys.readouterr())

    return printed


@pytest.fixture
def marked(run: Run) -> Run:
    run("import torch; old = torch.zeros(1000)")
    assert "are new" in run("%xleak watch")
    return run


def test_what_was_made_since_and_is_alive_is_listed_with_its_holder(marked: Run) -> None:
    marked("kept = {'a': torch.zeros(1 << 20)}; x = torch.zeros(5); del x")
    text = marked("%xleak watch --diff")
    assert text.startswith("1 tensor made since the baseline and alive, 4 MiB:")
    assert re.search(r"  #\d+ 4 MiB float32 \(1048576,\) on cpu.*, held by kept\['a'\]", text)
    assert "old" not in text


def test_a_tensor_has_the_same_number_each_time_and_no_other_has_it(marked: Run) -> None:
    marked("kept = torch.zeros(100)")
    first = re.findall(r"#\d+", marked("%xleak watch --diff"))
    assert re.findall(r"#\d+", marked("%xleak watch --diff")) == first
    marked("del kept")
    marked("again = torch.zeros(100)")
    assert re.findall(r"#\d+", marked("%xleak watch --diff")) != first


def test_a_tensor_at_the_address_of_an_old_one_is_new(marked: Run) -> None:
    marked("del old")
    marked("again = [torch.zeros(1000) for _ in range(20)]")
    assert "20 tensors made since" in marked("%xleak watch --diff")


def test_nothing_is_kept_alive_by_being_listed(marked: Run) -> None:
    before = _torch.live_bytes()
    marked("kept = torch.zeros(1 << 20)")
    marked("%xleak watch --diff")
    marked("del kept")
    assert _torch.live_bytes() == before
    assert "No tensor" in marked("%xleak watch --diff")


def test_a_diff_without_a_baseline_says_what_to_do(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xleak.magics.subcommands import watch

    monkeypatch.setattr(watch, "_baseline", None)
    assert "run %xleak watch first" in run("%xleak watch --diff")
    assert "takes --diff or nothing, got '--all'" in run("%xleak watch --all")
