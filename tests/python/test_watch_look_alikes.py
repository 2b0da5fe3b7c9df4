"""Loops that look as if they leaked: the watcher is silent."""

from __future__ import annotations

import gc
from collections import OrderedDict, deque
from typing import Any

import torch
import xleak
from torch import nn
from watched_loops import Training, watched

MIB = 1 << 20


def test_a_warm_up_that_ends_is_silent() -> None:
    pools: list[torch.Tensor] = []
    watcher = watched(lambda step, *_: pools.append(torch.zeros(MIB)) if step < 50 else None)
    assert watcher.leaks == []


def test_cycles_that_nobody_collects_are_told_so() -> None:
    class Node:
        def __init__(self) -> None:
            self.me, self.tensor = self, torch.zeros(50_000)

    gc.disable()
    try:
        watcher = watched(lambda *_: Node() and None)
    finally:
        gc.enable()
    assert [cause.kind for cause in watcher.leaks[0].causes] == ["garbage"]
    assert "The collector is off" in watcher.leaks[0].message()


def test_a_cache_that_is_full_is_silent() -> None:
    cache: dict[int, torch.Tensor] = {}
    assert watched(lambda step, *_: cache.setdefault(step % 64, torch.zeros(50_000))).leaks == []


def test_results_that_take_the_place_of_what_they_were_made_from_are_silent() -> None:
    waiting, results = [torch.zeros(50_000) for _ in range(300)], list[torch.Tensor]()
    assert watched(lambda *_: results.append(waiting.pop() + 1)).leaks == []


def test_a_cache_with_a_limit_is_silent() -> None:
    cache: OrderedDict[int, torch.Tensor] = OrderedDict()

    def keep(step: int, loss: torch.Tensor, output: torch.Tensor) -> None:
        cache[step] = torch.zeros(50_000)
        if len(cache) > 64:
            cache.popitem(last=False)

    assert watched(keep).leaks == []


def test_cycles_that_the_collector_takes_are_silent() -> None:
    class Node:
        def __init__(self) -> None:
            self.me, self.tensor = self, torch.zeros(50_000)

    assert watched(lambda *_: Node() and None).leaks == []


def test_cycles_that_wait_for_the_collector_all_the_time_are_silent() -> None:
    class Node:
        def __init__(self) -> None:
            self.me, self.tensor = self, torch.zeros(50_000)

    threshold = gc.get_threshold()
    try:
        gc.set_threshold(10**9)
        watcher = watched(lambda *_: Node() and None)
    finally:
        gc.set_threshold(*threshold)
    assert watcher.leaks == []


def test_a_sawtooth_is_silent() -> None:
    rows: list[torch.Tensor] = []

    def keep(step: int, loss: torch.Tensor, output: torch.Tensor) -> None:
        rows.append(torch.zeros(50_000))
        if step % 90 == 89:
            rows.clear()

    assert watched(keep, 400).leaks == []


def test_a_replay_buffer_that_fills_and_then_overwrites_is_silent() -> None:
    buffer: list[torch.Tensor] = []

    def keep(step: int, loss: torch.Tensor, output: torch.Tensor) -> None:
        if len(buffer) < 150:
            buffer.append(torch.zeros(5000))
        else:
            buffer[step % 150] = torch.zeros(5000)

    assert watched(keep, 400).leaks == []


def test_a_replay_buffer_with_a_limit_is_silent() -> None:
    buffer: deque[torch.Tensor] = deque(maxlen=200)
    assert watched(lambda *_: buffer.append(torch.zeros(5000)), 400).leaks == []


def test_a_cache_that_an_epoch_of_two_hundred_steps_fills_is_silent() -> None:
    cache: list[torch.Tensor] = []
    watcher = watched(lambda step, *_: cache.append(torch.zeros(MIB // 16)) if step < 200 else None)
    assert watcher.leaks == []


def test_training_and_evaluation_in_turn_are_silent() -> None:
    def evaluate(step: int, loss: torch.Tensor, output: torch.Tensor) -> None:
        if step % 20 >= 10:
            outputs = [torch.zeros(100_000) for _ in range(20)]
            del outputs

    held: list[Any] = []

    def hold(step: int, loss: torch.Tensor, output: torch.Tensor) -> None:
        held[:] = [torch.zeros(MIB)] if step % 20 >= 10 else []

    assert watched(evaluate).leaks == []
    assert watched(hold).leaks == []


def test_a_large_allocation_that_each_step_frees_is_silent() -> None:
    watcher = watched(lambda step, *_: torch.zeros(MIB + step * 1000).sum() and None, 100)
    assert watcher.leaks == []
    assert watcher.peak_bytes is not None
    assert watcher.peak_bytes > 4 * MIB


def test_a_history_of_numbers_is_silent() -> None:
    history: list[dict[str, float]] = []
    keep = history.append
    watcher = watched(lambda step, loss, output: keep({"loss": loss.item(), "step": step}), 1500)
    assert watcher.leaks == []


def test_a_loop_that_does_nothing_is_silent() -> None:
    with xleak.Watcher(on_leak="quiet") as watcher:
        for _ in range(20_000):
            watcher.step()
    assert watcher.leaks == []


def test_a_loop_of_a_few_steps_is_not_judged() -> None:
    kept: list[torch.Tensor] = []
    assert watched(lambda *_: kept.append(torch.zeros(10 * MIB)), 4).leaks == []


def test_a_correct_training_loop_is_silent() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 12)
    data = torch.utils.data.TensorDataset(torch.randn(640, 64), torch.randint(10, (640,)))
    loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
    history: list[float] = []
    best: dict[str, torch.Tensor] = {}
    with xleak.Watcher("training", on_leak="quiet") as watcher:
        for _ in range(12):
            model.train()
            total = 0.0
            for inputs, labels in loader:
                optimizer.zero_grad(set_to_none=True)
                loss = nn.functional.cross_entropy(model(inputs), labels)
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                total += loss.item()
                watcher.step()
            scheduler.step()
            model.eval()
            with torch.inference_mode():
                right = sum(int((model(x).argmax(1) == y).sum()) for x, y in loader)
            history.append(total + right)
            best = {name: value.clone() for name, value in model.state_dict().items()}
    assert watcher.leaks == []
    assert len(history) == 12 and best


def test_an_optimizer_that_makes_its_state_late_is_silent() -> None:
    training = Training(256)
    watcher = watched(lambda *_: None, 100, training)
    assert watcher.leaks == []
