"""Leaks of a loop that the watcher finds, and whom it names."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections import deque
from typing import Any

import pytest
import torch
import xleak
from torch import nn
from watched_loops import Training, watched
from xleak.watching.counters import HEAP, HOST
from xleak.watching.leak import Cause, Leak


def the_leak(watcher: xleak.Watcher, memory: str = HOST) -> Leak:
    assert [leak.memory for leak in watcher.leaks] == [memory]
    return watcher.leaks[0]


def the_cause(leak: Leak) -> Cause:
    assert leak.causes, leak.message()
    return leak.causes[0]


def test_a_list_of_tensors_is_named_with_what_a_step_adds() -> None:
    history: list[torch.Tensor] = []
    leak = the_leak(watched(lambda step, loss, output: history.append(torch.zeros(5000))))
    assert leak.bytes_per_step == pytest.approx(20_000, rel=0.02)
    cause = the_cause(leak)
    assert (cause.kind, cause.holder) == ("list", "history")
    assert "1 a step" in cause.what
    assert "float32 (5000,) on cpu" in cause.what
    assert cause.bytes == pytest.approx(cause.count * 20_000, rel=0.05)


def test_a_kibibyte_a_step_is_found_in_a_long_loop() -> None:
    kept: list[torch.Tensor] = []
    with xleak.Watcher(on_leak="quiet") as watcher:
        for _ in range(3000):
            kept.append(torch.zeros(256))
            watcher.step()
    leak = the_leak(watcher)
    assert leak.bytes_per_step == pytest.approx(1024, rel=0.02)
    assert the_cause(leak).holder == "kept"


def test_losses_that_are_kept_with_their_graphs_are_told_so() -> None:
    losses: list[torch.Tensor] = []
    leak = the_leak(watched(lambda step, loss, output: losses.append(loss * loss), 600), HEAP)
    cause = the_cause(leak)
    assert cause.holder == "losses"
    assert "with its graph" in cause.what
    assert "loss.item()" in cause.advice


def test_a_sum_of_losses_is_told_by_the_depth_of_its_graph() -> None:
    total: Any = 0

    def add(step: int, loss: torch.Tensor, output: torch.Tensor) -> None:
        nonlocal total
        total = total + loss

    watcher = watched(add, 600)
    cause = the_cause(the_leak(watcher, HEAP))
    assert (cause.kind, cause.holder) == ("graph", "total")
    assert "1 node a step" in cause.what
    assert "loss.item()" in cause.advice


def test_a_hidden_state_that_is_carried_along_is_told_to_be_detached() -> None:
    cell, state = nn.GRUCell(64, 64), torch.zeros(64, 64)
    with xleak.Watcher(on_leak="quiet") as watcher:
        for _ in range(200):
            state = cell(torch.randn(64, 64), state)
            watcher.step()
    cause = the_cause(the_leak(watcher))
    assert (cause.kind, cause.holder) == ("graph", "state")
    assert "state.detach()" in cause.advice


def test_a_cache_that_nobody_empties_is_named() -> None:
    cache: dict[int, torch.Tensor] = {}
    leak = the_leak(watched(lambda step, *_: cache.setdefault(step, torch.zeros(5000))))
    cause = the_cause(leak)
    assert (cause.kind, cause.holder) == ("dictionary", "cache")
    assert "limit" in cause.advice


def test_hooks_that_each_step_adds_are_named_by_their_module() -> None:
    training = Training()

    def hook(kept: torch.Tensor, *_: object) -> None:
        return None

    def add(*_: object) -> None:
        training.model[0].register_forward_hook(functools.partial(hook, torch.zeros(5000)))

    cause = the_cause(the_leak(watched(add, 100, training)))
    assert cause.kind == "hooks"
    assert cause.holder.endswith("_forward_hooks")
    assert ".remove()" in cause.advice


class Mixer(nn.Module):  # type: ignore[misc]
    """Makes a layer with every pass, and hides it."""

    def __init__(self) -> None:
        super().__init__()
        self.gates: list[nn.Module] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = nn.Linear(x.size(-1), x.size(-1))
        self.gates.append(gate)
        return torch.sigmoid(gate(x)) * x


def test_layers_in_a_plain_list_of_a_module_are_told_to_be_hidden() -> None:
    mixer = Mixer()
    with xleak.Watcher(on_leak="quiet") as watcher:
        for _ in range(60):
            mixer(torch.randn(4, 100)).sum().backward()
            watcher.step()
    cause = the_cause(the_leak(watcher))
    assert (cause.kind, cause.holder) == ("hidden modules", "mixer.gates")
    assert "parameters()" in cause.advice
    assert "nn.ModuleList" in cause.advice


def test_a_tensor_that_grows_by_cat_is_named() -> None:
    joined = torch.zeros(0)
    with xleak.Watcher(on_leak="quiet") as watcher:
        for _ in range(200):
            joined = torch.cat([joined, torch.zeros(5000)])
            watcher.step()
    cause = the_cause(the_leak(watcher))
    assert (cause.kind, cause.holder) == ("tensor", "joined")


def test_the_attribute_of_an_object_is_told_by_the_way_to_it() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.log: dict[str, Any] = {"outputs": []}

        def train(self) -> xleak.Watcher:
            with xleak.Watcher(on_leak="quiet") as watcher:
                for _ in range(100):
                    self.log["outputs"].append(torch.zeros(5000))
                    watcher.step()
            return watcher

    assert the_cause(the_leak(Trainer().train())).holder == "self.log['outputs']"


def test_the_line_that_makes_what_stays_is_told() -> None:
    kept: list[torch.Tensor] = []

    def make() -> torch.Tensor:
        return torch.zeros(5000)

    leak = the_leak(watched(lambda step, loss, output: kept.append(make()), 200))
    file, line, count = leak.made_at[0]
    assert file == __file__
    assert line == make.__code__.co_firstlineno + 1
    assert count == 8
    assert len(leak.made_at) == 1
    assert f"made at {file}:{line}" in leak.message()


def test_arrays_in_a_list_are_found_without_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['the C heap'] rows [] None\n"
    assert "LeakWarning: 'loop' keeps" in done.stderr
    assert "rows: " in done.stderr


WITHOUT_TORCH = """
import sys
import xleak

def main():
    rows = []
    watcher = xleak.Watcher()
    for _ in range(200):
        rows.append(bytearray(50_000))
        watcher.step()
    watcher.close()
    memories = [leak.memory for leak in watcher.leaks]
    loaded = [name for name in ("torch", "IPython", "numpy") if name in sys.modules]
    print(memories, watcher.leaks[0].causes[0].holder, loaded, watcher.peak_bytes)

main()
"""


def test_a_large_leak_is_told_while_the_loop_runs_and_once() -> None:
    kept: list[torch.Tensor] = []
    watcher = xleak.Watcher(every=20, on_leak="quiet")
    told: list[int] = []
    for step in range(200):
        kept.append(torch.zeros(1 << 18))
        watcher.step()
        told.append(step) if watcher.leaks else None
    assert 20 < told[0] < 150
    watcher.close()
    assert len(watcher.leaks) == 1


def test_a_mebibyte_a_step_is_told_before_three_hundred_steps_are_over() -> None:
    kept: list[torch.Tensor] = []
    watcher = xleak.Watcher(on_leak="quiet")
    while not watcher.leaks and watcher.steps < 300:
        kept.append(torch.zeros(1 << 18))
        watcher.step()
    assert watcher.steps == 250
    assert the_cause(the_leak(watcher)).holder == "kept"


def test_a_full_deque_is_not_named_and_the_list_beside_it_is() -> None:
    recent: deque[torch.Tensor] = deque(maxlen=50)
    every: list[torch.Tensor] = []

    def keep(step: int, loss: torch.Tensor, output: torch.Tensor) -> None:
        recent.append(torch.zeros(5000))
        every.append(torch.zeros(5000))

    assert [cause.holder for cause in the_leak(watched(keep)).causes] == ["every"]


def test_nothing_of_a_tensors_contents_is_told() -> None:
    kept: list[torch.Tensor] = []
    leak = the_leak(watched(lambda *_: kept.append(torch.full((5000,), 12345.0))))
    assert "12345" not in leak.message()


def test_a_found_leak_is_pinned_by_nobody_once_the_user_lets_go() -> None:
    from xleak import _torch

    before = _torch.live_bytes()
    kept: list[torch.Tensor] = []
    watcher = watched(lambda *_: kept.append(torch.zeros(5000)), 200)
    assert watcher.leaks
    kept.clear()
    # Gradients and the optimizer's state went with the training.
    assert _torch.live_bytes() - before < 20_000


@pytest.mark.parametrize("freed_at", [75, 148, 290, 299])
def test_what_was_there_before_the_loop_and_is_freed_in_it_hides_no_leak(freed_at: int) -> None:
    older, kept = [torch.zeros(4_000_000)], list[torch.Tensor]()

    def keep(step: int, loss: torch.Tensor, output: torch.Tensor) -> None:
        kept.append(torch.zeros(2500))
        if step == freed_at:
            older.clear()

    leak = the_leak(watched(keep))
    assert leak.bytes_per_step == pytest.approx(10_000, rel=0.02)
    assert the_cause(leak).holder == "kept"
