"""What torch reports of devices, read without waking it."""

from __future__ import annotations

import json
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest
from stand_ins import module_of
from xleak import _native
from xleak.shell import torch_module
from xleak.shell.readings import (
    DeviceReading,
    begin_device_cell,
    device_readings,
    end_device_cell,
)

STATS = {
    "allocated_bytes.all.current": 10,
    "reserved_bytes.all.current": 30,
    "allocated_bytes.all.peak": 20,
    "inactive_split_bytes.all.current": 5,
    "allocated_bytes.all.allocated": 40,
}
READ = DeviceReading("cuda:0", 10, 30, 20, 5, 40)


def accelerator(initialized: bool = True, **more: object) -> ModuleType:
    """What torch.cuda offers, as far as it is asked."""
    return module_of(is_initialized=lambda: initialized, device_count=lambda: 1, **more)


@pytest.fixture(autouse=True)
def torch_without_devices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imported, as far as anybody asks, whichever tests ran before."""
    if request.node.get_closest_marker("gpu") is None:
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    for name in ("xleak._torch", "torch.cuda", "torch.xpu"):
        monkeypatch.delitem(sys.modules, name, raising=False)


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


def test_the_module_for_torch_follows_a_cell_and_tells_its_peak(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed: list[int] = []

    def end(index: int) -> list[tuple[str, int]]:
        followed.remove(index)
        return [("cuda:0", 17)]

    module = SimpleNamespace(
        has_device_stats=lambda: False, begin_device_cell=followed.append, end_device_cell=end
    )
    monkeypatch.setitem(sys.modules, "xleak._torch", module)
    cuda = accelerator(memory_stats=lambda index: STATS)
    monkeypatch.setitem(sys.modules, "torch.cuda", cuda)
    before = device_readings()
    begin_device_cell(4)
    after = end_device_cell(4)
    assert followed == []
    assert before == [READ]
    assert after == [READ._replace(cell_peak=17)]
    # Torch's own mark stands at 20 and did not rise.
    assert use(before, after).allocated_peak_bytes == 17


def test_where_the_module_fails_there_are_readings_without_the_cells_peak(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "xleak._torch", SimpleNamespace())
    cuda = accelerator(memory_stats=lambda index: STATS)
    monkeypatch.setitem(sys.modules, "torch.cuda", cuda)
    begin_device_cell(4)
    assert end_device_cell(4) == [READ]


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
    torch = pytest.importorskip("torch", reason="no torch, and so no CUDA device, here")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device on this machine")
    torch.zeros(1, device="cuda")
    before = device_readings()
    kept = torch.zeros(16 << 20, dtype=torch.uint8, device="cuda")
    assert use(before, device_readings()).allocated_kept_bytes == kept.nbytes


FOLLOWED = """
torch.zeros(1, device="cuda")
first = torch.zeros(64 << 20, dtype=torch.uint8, device="cuda")
del first
before = device_readings()
mark = torch.cuda.max_memory_allocated()
live = torch.cuda.memory_allocated()
_native.set_enabled(True)
index = _native.begin_cell(None, None, before)
begin_device_cell(index)
came_and_went = torch.zeros(16 << 20, dtype=torch.uint8, device="cuda")
del came_and_went
kept = torch.zeros(1 << 20, dtype=torch.uint8, device="cuda")
_native.end_cell(index, "ok", None, None, end_device_cell(index))
use = _native.record(index).devices[0]
print(json.dumps({
    "follows": _torch.follows_cuda(),
    "backend": torch.cuda.get_allocator_backend(),
    "peak": use.allocated_peak_bytes,
    "expected": live + (16 << 20),
    "kept": use.allocated_kept_bytes,
    "mark": [mark, torch.cuda.max_memory_allocated()],
}))
"""


@pytest.mark.gpu
def test_the_peak_of_a_cell_on_a_card_is_exact_and_the_users_own_counter_is_untouched() -> None:
    torch = pytest.importorskip("torch", reason="no torch, and so no CUDA device, here")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device on this machine")
    if missing := torch_module.why_missing():
        pytest.skip(missing)
    head = (
        "import json, torch\nfrom xleak.shell import torch_module\nassert torch_module.load()\n"
        "from xleak import _native, _torch\n"
        "from xleak.shell.readings import begin_device_cell, device_readings, end_device_cell\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", head + FOLLOWED],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    told = json.loads(done.stdout)
    if not told["follows"]:
        pytest.skip("xleak's module was built without CUDA's headers")
    if told["backend"] != "native":
        pytest.skip(f"torch's allocator {told['backend']} has no trace")
    assert told["peak"] == told["expected"]
    assert told["kept"] == 1 << 20
    assert told["mark"][0] == told["mark"][1] > told["expected"]
