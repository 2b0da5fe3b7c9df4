"""What Watcher.step() costs a training step of 10 ms: the same loop in one process, with and without."""

import json
import subprocess
import sys

from claims import Claim, Measurement

AT_MOST = 1.01
PROCESSES = 2

# Each side in turn, ten steps at a time, by the processor's time: a call of some microseconds in a step
# of 10 ms drowns in what else the machine does. The model is as large as makes such a step.
WORKER = """
import json, time
import torch, xleak
torch.set_num_threads(1)
torch.manual_seed(0)
layers = [layer for _ in range(6) for layer in (torch.nn.Linear(512, 512), torch.nn.ReLU())]
model = torch.nn.Sequential(*layers, torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
inputs, labels = torch.randn(64, 512), torch.randint(10, (64,))

def train(watcher):
    begun = time.process_time()
    for _ in range(10):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        if watcher is not None:
            watcher.step()
    return (time.process_time() - begun) * 100

found = {"watched": [], "unwatched": []}
with xleak.Watcher(on_leak="raise") as watcher:
    for _ in range(5):
        train(watcher)
    for turn in range(60):
        for side in ("watched", "unwatched") if turn % 2 else ("unwatched", "watched"):
            found[side].append(train(watcher if side == "watched" else None))
print(json.dumps(found))
"""

# What one call takes, in microseconds.
CALLS = """
import json, time
import torch, xleak
found = []
with xleak.Watcher(on_leak="raise") as watcher:
    for _ in range(50):
        begun = time.perf_counter()
        for _ in range(200):
            watcher.step()
        found.append((time.perf_counter() - begun) * 5000)
print(json.dumps(found))
"""


def ran(script: str) -> dict[str, list[float]] | list[float]:
    """What a fresh process printed."""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def measure() -> list[Measurement]:
    samples: dict[str, list[float]] = {"watched": [], "unwatched": []}
    for _ in range(PROCESSES):
        found = ran(WORKER)
        assert isinstance(found, dict)
        for side, times in found.items():
            samples[side] += times
    calls = ran(CALLS)
    assert isinstance(calls, list)
    return [
        Measurement(
            "a training step of about 10 ms",
            "ms",
            samples,
            [Claim("watched", "unwatched", AT_MOST)],
        ),
        Measurement("Watcher.step()", "µs", {"call": calls}, [Claim("call", None, 100.0)]),
    ]
