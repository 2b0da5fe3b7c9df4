"""What other processes hold of a device, by a scripted NVML: torch, a card and a driver are not needed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pynvml
import pytest
from stand_ins import module_of
from xleak import verdict
from xleak.render import html, table
from xleak.shell import other_processes
from xleak.shell.other_processes import (
    OtherProcess,
    held_by_others,
    others_by_process,
    utilisation,
)
from xleak.verdict import SharedDevice, Source

MIB = 1 << 20
UUID = "5c1d2a4e-0000-1111-2222-333344445555"


class Driver:
    """One card, as nvidia-ml-py tells of it."""

    nvmlMemory_v2 = pynvml.nvmlMemory_v2
    NVMLError = pynvml.NVMLError

    def __init__(self, used: int, processes: dict[int, int | None]) -> None:
        self.used, self.processes = used, processes
        self.initialised = 0
        self.asked_for: list[str] = []

    def nvmlInit(self) -> None:
        self.initialised += 1

    def nvmlShutdown(self) -> None:
        self.initialised -= 1

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:
        assert self.initialised
        self.asked_for.append(uuid)
        if uuid != f"GPU-{UUID}":
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return uuid

    def nvmlDeviceGetMemoryInfo(self, card: str, version: int) -> pynvml.c_nvmlMemory_v2_t:
        return pynvml.c_nvmlMemory_v2_t(version, 24 << 30, 500 * MIB, 0, self.used)

    def nvmlDeviceGetUtilizationRates(self, card: str) -> pynvml.c_nvmlUtilization_t:
        return pynvml.c_nvmlUtilization_t(37, 4)

    def nvmlDeviceGetComputeRunningProcesses(self, card: str) -> list[pynvml.nvmlFriendlyObject]:
        return [
            pynvml.nvmlFriendlyObject({"pid": pid, "usedGpuMemory": used})
            for pid, used in self.processes.items()
        ]


def cuda(uuid: str = UUID, reserved: int = 300 * MIB, initialised: bool = True) -> ModuleType:
    return module_of(
        is_initialized=lambda: initialised,
        device_count=lambda: 1,
        memory_stats=lambda index: {"reserved_bytes.all.current": reserved},
        get_device_properties=lambda index: SimpleNamespace(uuid=uuid),
    )


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, int | None]]:
    """Asks on a machine with this driver, this torch.cuda, outside a container."""

    def ask(driver: Any, torch_cuda: ModuleType | None = None) -> dict[str, int | None]:
        monkeypatch.delitem(sys.modules, "xleak._torch", raising=False)
        monkeypatch.setitem(sys.modules, "torch", sys.modules.get("torch", ModuleType("torch")))
        monkeypatch.setitem(sys.modules, "torch.cuda", torch_cuda or cuda())
        monkeypatch.setitem(sys.modules, "pynvml", driver)
        namespace = os.stat("/proc/self/ns/pid").st_ino
        monkeypatch.setattr(other_processes, "_FIRST_NAMESPACE", namespace)
        return held_by_others()

    return ask


def test_others_hold_what_is_used_less_what_this_process_has(
    machine: Callable[..., dict[str, int | None]],
) -> None:
    driver = Driver(5000 * MIB, {1: 4000 * MIB, os.getpid(): 800 * MIB})
    assert machine(driver) == {"cuda:0": 4200 * MIB}
    assert driver.asked_for == [f"GPU-{UUID}"]
    assert driver.initialised == 0


def test_the_use_of_a_card_is_what_the_driver_tells_of_it(
    machine: Callable[..., dict[str, int | None]],
) -> None:
    machine(Driver(5000 * MIB, {}))
    assert utilisation() == {"cuda:0": 37}
    machine(SimpleNamespace(nvmlInit=lambda: None, nvmlShutdown=lambda: None))
    assert utilisation() == {"cuda:0": None}


@pytest.mark.parametrize(
    "processes",
    [
        pytest.param({}, id="it lists no process"),
        pytest.param({1: 4000 * MIB}, id="this process has another number there"),
        pytest.param({os.getpid(): None}, id="the driver keeps no account by process"),
        pytest.param({os.getpid(): 200 * MIB}, id="another process has our number"),
    ],
)
def test_where_this_process_cannot_be_told_it_is_unknown(
    processes: dict[int, int | None], machine: Callable[..., dict[str, int | None]]
) -> None:
    assert machine(Driver(5000 * MIB, processes)) == {"cuda:0": None}


def test_the_others_are_told_by_name_the_largest_first(
    machine: Callable[..., dict[str, int | None]],
) -> None:
    parent = os.getppid()
    processes = {2**22 + 1: 5 * MIB, os.getpid(): 800 * MIB, parent: 4000 * MIB, 2**22 + 2: None}
    machine(Driver(5000 * MIB, processes))
    name = Path(f"/proc/{parent}/comm").read_text().strip()
    assert others_by_process() == {
        "cuda:0": [
            OtherProcess(parent, name, 4000 * MIB),
            OtherProcess(2**22 + 1, None, 5 * MIB),
            OtherProcess(2**22 + 2, None, None),
        ]
    }


def test_where_this_process_cannot_be_told_the_others_are_unknown(
    machine: Callable[..., dict[str, int | None]],
) -> None:
    machine(Driver(5000 * MIB, {1: 4000 * MIB}))
    assert others_by_process() == {"cuda:0": None}


def test_in_a_container_it_is_unknown(
    machine: Callable[..., dict[str, int | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = Driver(5000 * MIB, {os.getpid(): 800 * MIB})
    machine(driver)
    monkeypatch.setattr(other_processes, "_FIRST_NAMESPACE", 0)
    assert held_by_others() == {"cuda:0": None}


def test_a_card_that_the_driver_does_not_know_is_unknown(
    machine: Callable[..., dict[str, int | None]],
) -> None:
    driver = Driver(5000 * MIB, {os.getpid(): 800 * MIB})
    assert machine(driver, cuda(uuid="of-a-part-of-a-card")) == {"cuda:0": None}
    assert driver.initialised == 0


def test_a_driver_that_is_not_loaded_leaves_it_unknown(
    machine: Callable[..., dict[str, int | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = Driver(0, {})

    def refuse() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_DRIVER_NOT_LOADED)

    monkeypatch.setattr(driver, "nvmlInit", refuse)
    assert machine(driver) == {"cuda:0": None}


def test_without_the_package_it_is_unknown_and_nothing_of_its_name_is_imported(
    machine: Callable[..., dict[str, int | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", absent)
    driver = Driver(5000 * MIB, {os.getpid(): 800 * MIB})
    assert machine(driver) == {"cuda:0": None}
    assert driver.asked_for == []


def test_where_nobody_uses_a_device_nothing_is_asked(
    machine: Callable[..., dict[str, int | None]],
) -> None:
    assert machine(SimpleNamespace(), cuda(initialised=False)) == {}


def test_the_report_has_a_line_for_each_device() -> None:
    devices = [SharedDevice("cuda:0", 3 << 30), SharedDevice("cuda:1", None)]
    told = verdict.assemble(Source(None, "python", {"xleak": "0"}), [], [], None, devices)
    lines = ["cuda:0: other processes hold 3 GiB", "cuda:1: other processes hold an unknown size"]
    assert table.devices(told).splitlines() == lines
    page = html.fragment(told, {})
    assert all(line in page for line in lines)


HOLDS = """
import sys, torch
kept = torch.zeros({bytes}, dtype=torch.uint8, device="cuda")
torch.cuda.synchronize()
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.gpu
def test_what_another_process_takes_on_a_card_is_told() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device on this machine")
    kept = torch.zeros(8 * MIB, dtype=torch.uint8, device="cuda")
    before = held_by_others()["cuda:0"]
    if before is None:
        pytest.skip("NVML does not tell what processes hold here: a container, or its driver")
    command = [sys.executable, "-c", HOLDS.format(bytes=256 * MIB)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        after = held_by_others()["cuda:0"]
        other.kill()
    assert after is not None
    assert after - before >= 256 * MIB
    assert kept.nbytes == 8 * MIB
