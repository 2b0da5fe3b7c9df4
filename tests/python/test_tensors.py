"""What a cell's record says of the tensors on the host."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import pytest
import shell_session
from shells import MIB, Session
from torch_process import _torch
from xleak import _native
from xleak.shell import tensors

RECORD = """
import json
from xleak import _native
from xleak.shell import tensors
def told():
    return [[r.tensor_kept_bytes, r.tensor_peak_bytes] for r in _native.records()]
"""


def told_by(script: str) -> Any:
    """What a fresh IPython shell with xleak prints last, read as JSON."""
    printed = shell_session.session(RECORD + textwrap.dedent(script))
    return json.loads(printed.strip().splitlines()[-1])


def test_a_cell_is_told_what_its_tensors_keep_and_peak(session: Session) -> None:
    session.run("import torch")
    live = _torch.live_bytes()
    session.run("kept = torch.zeros(1 << 20); torch.zeros(4 << 20); del _")
    record = _native.records()[-1]
    assert record.tensor_kept_bytes == 4 * MIB
    assert record.tensor_peak_bytes == live + 20 * MIB


def test_a_tensor_knows_its_cell(session: Session) -> None:
    session.run("import torch")
    session.run("made_here = torch.zeros(1 << 20)")
    index = _native.records()[-1].index
    address = session.shell.user_ns["made_here"].data_ptr()
    assert (address, 4 * MIB, index) in _torch.blocks(MIB)


def test_the_cell_that_imports_torch_is_unknown_but_its_tensors_are_its_own() -> None:
    printed = told_by("""
        run("1")
        run("import torch; first = torch.zeros(1 << 20)")
        run("second = torch.zeros(1 << 20)")
        from xleak import _torch
        cells = sorted(cell for _, size, cell in _torch.blocks(1 << 20))
        run("del first")
        print(json.dumps([*told(), cells]))
    """)
    kept = [row[0] for row in printed[:4]]
    assert kept == [None, None, 4 * MIB, -4 * MIB]
    assert printed[4] == [2, 3]


def test_without_torch_nothing_is_loaded_and_all_is_unknown() -> None:
    printed = told_by("""
        run("kept = bytearray(1 << 20)")
        import sys
        loaded = [name for name in sys.modules if name.endswith("._torch") or name == "torch"]
        print(json.dumps([*told(), loaded]))
    """)
    assert printed == [[None, None], []]


def test_a_module_called_torch_that_is_none_is_left_alone() -> None:
    printed = told_by("""
        import sys
        class Touchy:
            def __getattr__(self, name): raise RuntimeError(name)
        sys.modules["torch"] = Touchy()
        run("1")
        del sys.modules["torch"]
        print(json.dumps(told()))
    """)
    assert printed == [[None, None]]


def test_where_another_library_took_the_allocators_place_the_numbers_are_unknown(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.run("import torch")
    # Undone with the rest: what failed once is not tried again.
    monkeypatch.setattr(tensors, "_failure", None)
    monkeypatch.setattr(_torch, "installed", lambda: False)
    session.run("kept = torch.zeros(1 << 20)")
    assert _native.records()[-1].tensor_kept_bytes is None
    why = tensors.why_unknown()
    assert why is not None
    assert "another library stands before torch's allocator" in why


def test_a_torch_without_a_module_costs_its_columns_alone() -> None:
    printed = told_by("""
        from pathlib import Path
        from xleak.shell import torch_module
        torch_module._PACKAGE = Path("nowhere")
        torch_module.built_path = Path("nowhere").joinpath
        run("import torch; kept = torch.zeros(1 << 20)")
        run("1")
        run("%xleak env")
        print(json.dumps([*told(), torch_module.why_missing()]))
    """)
    assert printed[:2] == [[None, None], [None, None]]
    assert printed[3].endswith("Build it with: xleak build-torch")
