"""`%xleak devices` and `%xleak env`."""

from __future__ import annotations

import gc
import sys
import types

import pytest
from shells import Session
from xleak.magics.subcommands import devices as magic
from xleak.shell import environment, readings
from xleak.shell.readings import DeviceReading

MODULE = """
import torch
from torch import nn
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.scale = torch.ones(8)
        self.register_buffer("mean", torch.zeros(8))
    def forward(self, x):
        return self.inner(x) * self.scale
scaled = Scaled()
"""


def devices(session: Session, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert session.run("%xleak devices")
    return capsys.readouterr().out


def test_a_machine_without_a_device_says_so(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no framework uses one" in devices(session, capsys)


def test_a_module_on_one_device_has_no_hint(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run(MODULE)
    printed = devices(session, capsys)
    assert (
        "scaled (Scaled): Parameters 2 tensors on cpu; buffers 1 tensor on cpu; "
        "plain attributes 1 tensor on cpu" in printed
    )
    assert "!" not in printed


def test_an_attribute_that_stayed_behind_is_named_with_both_devices_and_the_rule(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run(MODULE)
    session.run("scaled.to('meta')")
    printed = devices(session, capsys)
    assert "! scale lies on cpu, its Parameters on meta" in printed
    assert "XL606 warning" in printed


def test_a_module_in_parts_is_told_and_not_accused(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run(MODULE + "parts = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2, device='meta')])")
    printed = devices(session, capsys)
    assert "parts (ModuleList): Parameters 2 tensors on cpu, 2 tensors on meta" in printed
    assert "right for a model in parts" in printed


def test_state_of_an_optimizer_beside_its_weights_is_told(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run(MODULE + "optimizer = torch.optim.Adam(scaled.parameters())")
    session.run("scaled(torch.ones(2, 8)).sum().backward(); optimizer.step()")
    assert "!" not in devices(session, capsys)
    session.run(
        "for entries in optimizer.state.values():\n"
        "    entries['exp_avg'] = entries['exp_avg'].to('meta')"
    )
    assert "! 2 tensors of its state lie on meta, their weights on cpu" in devices(session, capsys)


def test_what_a_name_leads_to_in_a_dictionary_is_named_as_written(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run(MODULE + "models = {'a': nn.Linear(1, 1)}")
    assert "models['a'] (Linear): Parameters 2 tensors on cpu" in devices(session, capsys)


def test_modules_and_tensors_of_the_users_are_read_and_not_asked(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run(
        MODULE + "ran = []\n"
        "class Odd(nn.Module):\n"
        "    def __getattr__(self, name): ran.append(name); return super().__getattr__(name)\n"
        "    def __repr__(self): ran.append('repr'); return 'odd'\n"
        "    def parameters(self, *more): ran.append('parameters'); return super().parameters(*more)\n"
        "class Marked(torch.Tensor):\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, function, types, args=(), kwargs=None):\n"
        "        ran.append(function); return super().__torch_function__(function, types, args, kwargs)\n"
        "odd = Odd(); odd.inner = nn.Linear(2, 2); odd.kept = torch.ones(3).as_subclass(Marked)\n"
        "ran.clear()"
    )
    printed = devices(session, capsys)
    assert session.shell.user_ns["ran"] == []
    assert "plain attributes 1 tensor on unknown" in printed


def test_a_device_in_use_is_told_by_its_allocator(
    session: Session, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = DeviceReading("cuda:0", 1 << 20, 2 << 20, 3 << 20, 0, 9 << 20)
    monkeypatch.setattr(readings, "_torch_readings", lambda: [read])
    session.run("import torch")
    printed = devices(session, capsys)
    assert "cuda:0: allocated 1 MiB, reserved 2 MiB, peak 3 MiB, other processes ?" in printed


def test_it_keeps_nothing_of_what_it_read(session: Session) -> None:
    session.run(MODULE)
    before = sys.getrefcount(session.shell.user_ns["scaled"])
    session.run("%xleak devices")
    gc.collect()
    # Outside of the assertion, which pytest has refer to it once more.
    after = sys.getrefcount(session.shell.user_ns["scaled"])
    assert after == before


def test_devices_takes_no_words(session: Session) -> None:
    assert not session.run("%xleak devices nosuch")
    assert "devices" in magic.HELP


# --- %xleak env ----------------------------------------------------------------------------------


def test_a_setting_is_shown_and_what_may_be_a_path_is_not(
    session: Session, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    monkeypatch.setenv("LD_PRELOAD", "/home/somebody/lib.so")
    assert session.run("import numpy")
    capsys.readouterr()
    assert session.run("%xleak env")
    printed = capsys.readouterr().out
    assert "expandable_segments:True" in printed
    assert "somebody" not in printed
    [preload] = [line for line in printed.splitlines() if line.startswith("LD_PRELOAD")]
    assert preload.split() == ["LD_PRELOAD", "set"]
    assert any(line.startswith("numpy ") for line in printed.splitlines())


def test_versions_of_cuda_that_do_not_go_together_are_told() -> None:
    assert environment.mismatches({"torch": "12.8", "tensorflow": "12.5", "driver": "12.9"}) == []
    [told] = environment.mismatches({"torch": "13.0", "driver": "12.4"})
    assert told == "torch was built for CUDA 13.0, the driver ends at 12.4"
    [told] = environment.mismatches({"torch": "12.8", "tensorflow": "11.8"})
    assert "torch for 12.8 and tensorflow for 11.8" in told


def test_the_version_that_torch_was_built_for_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    version = types.ModuleType("torch.version")
    version.cuda = "12.6"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.version", version)
    assert environment.cuda_versions()["torch"] == "12.6"
