"""Files beside the notebook, as `%leakcheck --notes` reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Session

pytestmark = pytest.mark.each_ipython

LEAKY = """\
import torch

net = torch.nn.Linear(2, 2)


def train(batches):
    total = 0.0
    for batch in batches:
        loss = net(batch).mean()
        loss.backward()
        total += loss
    return total
"""
MENDED = LEAKY.replace("+= loss", "+= loss.item()")


@pytest.fixture
def folder(fresh_kernel: Session, tmp_path: Path) -> Path:
    """Where the kernel works, with the extension that loads changed files again."""
    (tmp_path / "training_steps.py").write_text(LEAKY)
    for cell in (
        f"import os, sys; os.chdir({str(tmp_path)!r}); sys.path.insert(0, {str(tmp_path)!r})",
        "%load_ext autoreload\n%autoreload 2",
        "import torch, training_steps",
        "training_steps.train(torch.rand(30, 2)); None",
    ):
        assert fresh_kernel.run(cell).content["status"] == "ok"
    return tmp_path


def notes(kernel: Session) -> str:
    [shown] = kernel.run("%leakcheck --notes").of("display_data")
    return str(shown["data"]["text/plain"])


def test_a_file_that_the_cells_import_is_read_and_named_with_its_line(
    folder: Path, fresh_kernel: Session
) -> None:
    assert "XL203 training_steps.py, line 11 (not seen in memory): `total`" in notes(fresh_kernel)


def test_a_file_that_autoreload_loaded_again_is_read_again(
    folder: Path, fresh_kernel: Session
) -> None:
    (folder / "training_steps.py").write_text(MENDED)
    ran = fresh_kernel.run("training_steps.train(torch.rand(3, 2)).__class__.__name__")
    assert ran.value == "'float'"
    assert "training_steps.py" not in notes(fresh_kernel)


def test_a_working_folder_that_is_gone_stops_nothing(folder: Path, fresh_kernel: Session) -> None:
    (folder / "training_steps.py").unlink()
    fresh_kernel.run("os.rmdir(os.getcwd())")
    assert "The source says nothing" in notes(fresh_kernel)
