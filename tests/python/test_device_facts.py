"""What smells of devices are told, without a device: scripted frameworks, records and tensors of no memory."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from stand_ins import module_of
from xleak import _native
from xleak.shell.holders.products import MatrixProducts
from xleak.shell.readings import DeviceReading, device_readings

GIB = 1 << 30


@pytest.fixture(autouse=True)
def without_the_module_for_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "xleak._torch", raising=False)


def cuda(fraction: float) -> ModuleType:
    return module_of(
        is_initialized=lambda: True,
        device_count=lambda: 1,
        memory_stats=lambda index: {},
        get_device_properties=lambda index: SimpleNamespace(total_memory=8 * GIB),
        get_per_process_memory_fraction=lambda index: fraction,
    )


def test_the_total_of_a_device_is_the_part_that_torch_may_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    monkeypatch.setitem(sys.modules, "torch.cuda", cuda(0.5))
    assert [it.total for it in device_readings()] == [4 * GIB]


def context(initialized: bool, *types: str) -> ModuleType:
    """TensorFlow's, as far as it is asked."""
    devices = [
        SimpleNamespace(name=f"/device:{it}:{i}", device_type=it) for i, it in enumerate(types)
    ]
    made = SimpleNamespace(
        _initialized=initialized,
        _logical_devices=devices,
        get_memory_info=lambda name: {"current": 10, "peak": 20},
    )
    return module_of(context_safe=lambda: made)


def test_gpus_of_tensorflow_are_read_once_it_has_set_them_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "tensorflow.python.eager.context"
    monkeypatch.setitem(sys.modules, "tensorflow", ModuleType("tensorflow"))
    monkeypatch.delitem(sys.modules, "torch.cuda", raising=False)
    monkeypatch.setitem(sys.modules, "tensorflow.python.pywrap_tfe", SimpleNamespace())
    monkeypatch.delitem(sys.modules, "tensorflow.python.client._pywrap_tf_session", raising=False)
    monkeypatch.setitem(sys.modules, name, context(False, "GPU"))
    assert device_readings() == []
    monkeypatch.setitem(sys.modules, name, context(True, "CPU"))
    assert device_readings() == []
    monkeypatch.setitem(sys.modules, name, context(True, "GPU"))
    assert device_readings() == [DeviceReading("GPU:0", 10, None, 20, None, None, None, None)]


def look_after(source: str, names: dict[str, Any], peak: int) -> Any:
    """A look after cell 3, in which a device without memory had a peak."""
    heap = SimpleNamespace(retained_by_device=lambda label: {"meta": 10 * GIB})
    watcher = SimpleNamespace(shell=SimpleNamespace(user_ns=names))
    return SimpleNamespace(cell=3, sources={3: source}, watcher=watcher, heap=heap, peak=peak)


def products(
    monkeypatch: pytest.MonkeyPatch, source: str, names: dict[str, Any], peak: int
) -> list[tuple[str, int, str]]:
    """(text, bytes, release) of the holders."""
    use = SimpleNamespace(
        device="meta", allocated_peak_bytes=peak, allocated_bytes=0, allocated_kept_bytes=0
    )
    record = SimpleNamespace(devices=[use])
    monkeypatch.setattr(_native, "record", lambda cell: record)
    holders = MatrixProducts()(look_after(source, names, peak))
    return [(it.label, it.held_bytes, it.release) for it in holders]


def meta(rows: int, columns: int) -> Any:
    torch = pytest.importorskip("torch", reason="torch is not installed here")
    return torch.empty(rows, columns, device="meta")


def test_a_product_is_measured_by_its_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"a": meta(9000, 8), "b": meta(8, 7000), "c": meta(5000, 8)}
    size = 9000 * 7000 * 4
    assert products(monkeypatch, "top = (a @ b).max()", names, GIB) == [("a @ b", size, "")]
    assert products(monkeypatch, "a.mm(b)", names, GIB) == [("a.mm(b)", size, "")]
    found = products(monkeypatch, "import torch\ntorch.cdist(a, c).min()", names, GIB)
    assert [it[1] for it in found] == [9000 * 5000 * 4]
    found = products(monkeypatch, "x = a.matmul(a.t()).sum()\ny = (a @ a.T).sum()", names, GIB)
    assert [it[1] for it in found] == [9000 * 9000 * 4] * 2


def test_a_result_with_a_name_is_measured_itself_and_can_be_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = {"made": meta(9000, 9000)}
    (told,) = products(monkeypatch, "for i in range(2):\n    made = f(i) @ g(i)", names, GIB)
    assert told[:2] == ("f(i) @ g(i)", 9000 * 9000 * 4)
    assert told[2].startswith("del made; ")


def test_what_the_peak_does_not_show_did_not_happen(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"a": meta(9000, 8), "b": meta(8, 7000)}
    assert products(monkeypatch, "a @ b", names, 100 << 20) == []


def test_parts_batches_and_what_functions_do_are_no_large_products(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = {"a": meta(9000, 8), "part": meta(100, 8), "b": meta(8, 7000)}
    names["q"] = meta(9000, 8).reshape(9, 1000, 8)
    for source in (
        "for part in a.split(100):\n    part @ b",
        "found = [(it @ b).max() for it in a.split(100)]",
        "def f(a, b):\n    return a @ b",
        "scores = q @ b",
        "a @ a",
    ):
        assert products(monkeypatch, source, names, GIB) == []
