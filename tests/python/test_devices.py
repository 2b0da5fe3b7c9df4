"""What torch reports of devices, read without waking it."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from xleak import _native
from xleak.shell.readings import DeviceReading, device_readings

STATS = {
    "allocated_bytes.all.current": 10,
    "reserved_bytes.all.current": 30,
    "allocated_bytes.all.peak": 20,
    "inactive_split_bytes.all.current": 5,
    "allocated_bytes.all.allocated": 40,
}
READ = DeviceReading("cuda:0", 10, 30, 20, 5, 40)


def accelerator(initialized: bool = True, **more: object) -> SimpleNamespace:
    """What torch.cuda offers, as far as it is asked."""
    return SimpleNamespace(is_initialized=lambda: initialized, device_count=lambda: 1, **more)


@pytest.fixture(autouse=True)
def without_the_module_for_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "xleak._torch", raising=False)


def test_a_device_in_use_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = accelerator(memory_stats=lambda index: STATS)
    monkeypatch.setitem(sys.modules, "torch.cuda", cuda)
    assert device_readings() == [READ]


def test_a_number_that_torch_does_not_tell_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = accelerator(memory_stats=lambda index: {"allocated_bytes.all.current": 10})
    monkeypatch.setitem(sys.modules, "torch.cuda", cuda)
    assert device_readings() == [DeviceReading("cuda:0", 10, None, None, None, None)]


def test_the_module_for_torch_is_asked_where_it_can_tell_of_every_accelerator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = SimpleNamespace(
        device="cuda:0",
        allocated_bytes=10,
        reserved_bytes=30,
        allocated_peak_bytes=20,
        inactive_split_bytes=5,
        handed_out_bytes=40,
    )
    module = SimpleNamespace(has_device_stats=lambda: True, device_stats=lambda: [row])
    monkeypatch.setitem(sys.modules, "xleak._torch", module)
    monkeypatch.setitem(sys.modules, "torch.cuda", accelerator())
    assert device_readings() == [READ]


def test_a_module_for_an_older_torch_leaves_the_question_to_torch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = SimpleNamespace(has_device_stats=lambda: False)
    monkeypatch.setitem(sys.modules, "xleak._torch", module)
    cuda = accelerator(memory_stats=lambda index: STATS)
    monkeypatch.setitem(sys.modules, "torch.cuda", cuda)
    assert device_readings() == [READ]


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
    # A session that another test ended left it off.
    _native.set_enabled(True)
    index = _native.begin_cell(None, None, before)
    _native.end_cell(index, "ok", None, None, after)
    record = _native.record(index)
    assert record is not None
    return record.devices[0]


def test_a_peak_is_told_only_where_the_mark_rose_during_the_cell() -> None:
    before = [DeviceReading("cuda:0", 10, 30, 50, 0, 50)]
    rose = use(before, [DeviceReading("cuda:0", 15, 30, 80, 0, 90)])
    assert (rose.allocated_kept_bytes, rose.allocated_peak_bytes, rose.reserved_bytes) == (
        5,
        80,
        30,
    )
    same = [DeviceReading("cuda:0", 15, 30, 50, 0, 55)]
    assert use(before, same).allocated_peak_bytes is None


@pytest.mark.gpu
def test_a_tensor_kept_on_a_card_is_the_cells() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device on this machine")
    torch.zeros(1, device="cuda")
    before = device_readings()
    kept = torch.zeros(16 << 20, dtype=torch.uint8, device="cuda")
    assert use(before, device_readings()).allocated_kept_bytes == kept.nbytes
