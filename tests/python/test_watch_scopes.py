"""Blocks and functions that are watched: their numbers, and how a leak is told."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import warnings
from typing import Any

import pytest
import torch
import xleak
from torch_process import _torch

MIB = 1 << 20


@pytest.fixture(autouse=True)
def collected() -> None:
    gc.collect()


def tensor(mebibytes: int) -> torch.Tensor:
    return torch.empty(mebibytes * MIB, dtype=torch.uint8)


# --- numbers ---------------------------------------------------------------------------------


def test_a_scope_keeps_and_peaks_by_torchs_own_sizes() -> None:
    kept: list[torch.Tensor] = []
    before = _torch.live_bytes()
    with xleak.watch("epoch") as w:
        kept.append(tensor(3))
        tensor(20)
    assert w.kept_bytes == 3 * MIB
    assert w.peak_bytes == before + 23 * MIB
    assert w.heap_kept_bytes == pytest.approx(3 * MIB, abs=256 << 10)
    assert w.devices == {}


def test_the_numbers_are_known_inside_too() -> None:
    with xleak.watch("epoch") as w:
        kept = tensor(2)
        assert w.kept_bytes == 2 * MIB
        del kept
        assert w.kept_bytes == 0


def test_what_a_scope_freed_is_less_than_nothing() -> None:
    kept = [tensor(5)]
    with xleak.watch("epoch") as w:
        kept.clear()
    assert w.kept_bytes == -5 * MIB


def test_nested_scopes_have_peaks_of_their_own() -> None:
    before = _torch.live_bytes()
    with xleak.watch("outer") as outer:
        tensor(30)
        with xleak.watch("first") as first:
            tensor(10)
        with xleak.watch("second") as second:
            tensor(4)
    assert (first.peak_bytes, second.peak_bytes) == (before + 10 * MIB, before + 4 * MIB)
    assert outer.peak_bytes == before + 30 * MIB


def test_scopes_that_overlap_disturb_each_other_in_nothing() -> None:
    before = _torch.live_bytes()
    first = xleak.Watcher("first")
    held = tensor(8)
    second = xleak.Watcher("second")
    first.close()
    del held
    tensor(6)
    second.close()
    assert (first.kept_bytes, first.peak_bytes) == (8 * MIB, before + 8 * MIB)
    assert (second.kept_bytes, second.peak_bytes) == (-8 * MIB, before + 8 * MIB)


def test_a_cell_around_a_scope_keeps_its_numbers_and_its_blocks() -> None:
    before = _torch.live_bytes()
    _torch.begin_cell(41)
    with xleak.watch("epoch"):
        kept = tensor(2)
        tensor(5)
    after = tensor(1)
    blocks = {address: cell for address, _, cell in _torch.blocks(MIB)}
    assert _torch.end_cell(41) == (3 * MIB, before + 7 * MIB, 8 * MIB)
    assert blocks[kept.data_ptr()] == blocks[after.data_ptr()] == 41


def test_each_thread_has_scopes_of_its_own() -> None:
    peaks: dict[str, list[str]] = {}

    def run(name: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(20):
                with xleak.watch(name) as w:
                    torch.ones(10)
                peaks.setdefault(name, []).append(str(w.kept_bytes is not None))

    threads = [threading.Thread(target=run, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert peaks == {"a": ["True"] * 20, "b": ["True"] * 20}


def test_a_watcher_that_is_dropped_leaves_no_scope_behind() -> None:
    watcher = xleak.Watcher()
    scope = watcher._scope
    assert _torch.scope_use(scope) is not None
    del watcher
    assert _torch.scope_use(scope) is None


# --- blocks and functions that run again -----------------------------------------------------


def test_a_block_that_keeps_more_with_every_run_is_told_once() -> None:
    kept: list[torch.Tensor] = []
    with pytest.warns(
        xleak.LeakWarning, match="'epoch' keeps 4 MiB more .* with every call"
    ) as told:
        for _ in range(70):
            with xleak.watch("epoch", every=10):
                kept.append(tensor(4))
    assert len(told) == 1
    assert told[0].filename == __file__
    assert "kept: " in str(told[0].message)


def test_a_function_that_keeps_more_with_every_call_is_told() -> None:
    kept: list[torch.Tensor] = []

    @xleak.watch(on_leak="raise", every=10)
    def train_step(size: int) -> int:
        kept.append(tensor(size))
        return size

    with pytest.raises(xleak.LeakError, match="train_step") as error:
        for _ in range(70):
            assert train_step(4) == 4
    assert error.value.leaks[0].causes[0].holder == "kept"


def test_a_decorated_function_stays_what_it_was() -> None:
    @xleak.watch
    def plain(a: int, *, b: int = 2) -> int:
        """Adds."""
        return a + b

    @xleak.watch("named")
    def failing() -> None:
        raise KeyError("of the user")

    @xleak.watch
    async def later() -> int:
        return 5

    assert plain(1) == 3
    assert (plain.__name__, plain.__doc__) == ("plain", "Adds.")
    assert asyncio.run(later()) == 5
    with pytest.raises(KeyError, match="of the user"):
        failing()


def test_a_generator_is_refused_with_a_sentence() -> None:
    with pytest.raises(TypeError, match="cannot decorate a generator"):

        @xleak.watch
        def batches() -> Any:
            yield 1


# --- how it is told --------------------------------------------------------------------------


def leaking(on_leak: Any) -> xleak.Watcher:
    kept: list[torch.Tensor] = []
    with xleak.Watcher("loop", on_leak=on_leak) as watcher:
        for _ in range(100):
            kept.append(torch.zeros(20_000))
            watcher.step()
    return watcher


def test_a_leak_is_a_warning_at_the_users_line() -> None:
    with pytest.warns(xleak.LeakWarning, match="'loop' keeps 78") as told:
        leaking("warn")
    assert told[0].filename == __file__


def test_a_leak_may_be_an_error() -> None:
    with pytest.raises(xleak.LeakError, match="kept: ") as error:
        leaking("raise")
    assert error.value.leaks[0].memory == "tensors on the host"


def test_a_quiet_watcher_says_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert leaking("quiet").leaks


def test_an_error_of_the_user_goes_on_and_is_not_covered_by_a_leak() -> None:
    kept: list[torch.Tensor] = []
    with pytest.raises(KeyError), xleak.Watcher(on_leak="raise") as watcher:
        for _ in range(100):
            kept.append(torch.zeros(20_000))
            watcher.step()
        raise KeyError
    assert watcher.kept_bytes == 100 * 80_000


def test_a_scope_that_keeps_more_than_it_may_names_what_is_new() -> None:
    cache: dict[str, torch.Tensor] = {"old": tensor(9)}
    with (
        pytest.raises(xleak.LeakError) as error,
        xleak.watch("load", max_kept="1MiB", on_leak="raise"),
    ):
        cache["new"] = tensor(3)
    message = str(error.value)
    assert "'load' kept 3 MiB of tensors on the host; it may 1 MiB" in message
    assert "3 MiB uint8 (3145728,) on cpu, held by cache['new']" in message
    assert "old" not in message


def test_a_scope_within_its_limit_is_silent() -> None:
    with xleak.watch("load", max_kept="4MiB", on_leak="raise"):
        kept = tensor(3)
    assert kept.nbytes == 3 * MIB


def test_what_is_no_size_is_refused() -> None:
    for size in ("1 mile", "MiB", -1, True, 1.5):
        with pytest.raises(ValueError, match="a size is"):
            xleak.watch("x", max_kept=size)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="on_leak is one of"):
        xleak.Watcher(on_leak="shout")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="every is"):
        xleak.Watcher(every=0)
    with pytest.raises(TypeError, match="label"):
        xleak.watch(5)  # type: ignore[call-overload]


# --- without disturbing ----------------------------------------------------------------------


def test_locals_that_were_looked_at_are_not_kept() -> None:
    before = _torch.live_bytes()
    kept: list[torch.Tensor] = []
    large = tensor(50)
    with xleak.Watcher(on_leak="quiet") as watcher:
        for _ in range(100):
            kept.append(torch.zeros(20_000))
            watcher.step()
    assert watcher.leaks
    del large
    kept.clear()
    assert _torch.live_bytes() == before


def test_what_the_user_may_count_is_as_it_was() -> None:
    import tracemalloc

    state = gc.isenabled(), gc.get_threshold(), tracemalloc.is_tracing(), list(warnings.filters)
    leaking("quiet")
    assert state == (
        gc.isenabled(),
        gc.get_threshold(),
        tracemalloc.is_tracing(),
        list(warnings.filters),
    )


def test_the_off_switch_leaves_a_watcher_without_numbers() -> None:
    script = """
import torch, xleak
with xleak.watch("x", max_kept=0, on_leak="raise") as w:
    kept = torch.zeros(10**6)
    w.step()
print(w.kept_bytes, w.peak_bytes, w.leaks)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**__import__("os").environ, "XLEAK_DISABLE": "1"},
    )
    assert done.stdout == "None None []\n"


def test_torch_that_is_imported_inside_has_its_tensors_counted() -> None:
    script = """
import xleak
with xleak.watch("x") as w:
    import torch
    kept = torch.zeros(10**6)
print(w.kept_bytes, w.peak_bytes)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "4000000 None\n"


def test_the_calls_of_a_function_are_judged_when_the_program_ends() -> None:
    script = """
import xleak
rows = []
@xleak.watch
def step():
    rows.append(bytearray(50_000))
for _ in range(120):
    step()
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "done\n"
    assert "LeakWarning: 'step' keeps" in done.stderr
    assert "rows: " in done.stderr
