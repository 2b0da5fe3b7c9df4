"""What torch reports of devices, read without waking it."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from xleak import _native
from xleak.shell.readings import DeviceReading, device_readings


def accelerator(initialized: bool = True, **numbers: int) -> SimpleNamespace:
    def fixed(name: str) -> object:
        return lambda index: numbers[name]

    return SimpleNamespace(
        is_initialized=lambda: initialized,
        device_count=lambda: 1,
        memory_allocated=fixed("allocated"),
        memory_reserved=fixed("reserved"),
        max_memory_allocated=fixed("peak"),
    )


def test_a_device_in_use_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = accelerator(allocated=10, reserved=30, peak=20)
    monkeypatch.setitem(sys.modules, "torch.cuda", cuda)
    assert device_readings() == [("cuda:0", 10, 30, 20)]


def test_a_backend_that_nobody_initialised_is_left_asleep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.cuda", accelerator(initialized=False))
    assert device_readings() == []


def test_a_backend_that_fails_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.cuda", accelerator())
    assert device_readings() == []


def test_reading_imports_no_torch() -> None:
    code = (
        "import sys\nfrom xleak.shell.readings import device_readings\n"
        "assert device_readings() == []\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def use(before: list[DeviceReading], after: list[DeviceReading]) -> _native.DeviceUse:
    index = _native.begin_cell(None, None, before)
    _native.end_cell(index, "ok", None, None, after)
    record = _native.record(index)
    assert record is not None
    return record.devices[0]


def test_a_peak_is_told_only_where_the_mark_rose_during_the_cell() -> None:
    before: list[DeviceReading] = [("cuda:0", 10, 30, 50)]
    rose = use(before, [("cuda:0", 15, 30, 80)])
    assert (rose.allocated_kept_bytes, rose.allocated_peak_bytes, rose.reserved_bytes) == (
        5,
        80,
        30,
    )
    assert use(before, [("cuda:0", 15, 30, 50)]).allocated_peak_bytes is None


@pytest.mark.gpu
def test_a_tensor_kept_on_a_card_is_the_cells() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device on this machine")
    torch.zeros(1, device="cuda")
    before = device_readings()
    kept = torch.zeros(16 << 20, dtype=torch.uint8, device="cuda")
    assert use(before, device_readings()).allocated_kept_bytes == kept.nbytes
