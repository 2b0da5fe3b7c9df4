"""What Watcher.step() costs a training step of 10 ms: its own part of the processor's time, and the same
loop with and without."""

import json
import subprocess
import sys

from claims import Claim, Measurement

AT_MOST = 1.01
AT_MOST_OF_STEP = 0.01
PROCESSES = 2

# The model is as large as makes a step of about 10 ms on one core.
MODEL = """
import json, time
import torch, xleak
torch.set_num_threads(1)
torch.manual_seed(0)
layers = [layer for _ in range(6) for layer in (torch.nn.Linear(512, 512), torch.nn.ReLU())]
model = torch.nn.Sequential(*layers, torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
inputs, labels = torch.randn(64, 512), torch.randint(10, (64,))

def train_step():
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
"""

# The mean of a hundred steps holds what is done only now and then, which a median of steps would not.
OWN_PART = """
found = {"watcher": [], "step": []}
with xleak.Watcher(on_leak="raise") as watcher:
    for _ in range(12):
        own, begun = 0.0, time.thread_time()
        for _ in range(100):
            train_step()
            before = time.thread_time()
            watcher.step()
            own += time.thread_time() - before
        found["watcher"].append(own * 10)
        found["step"].append((time.thread_time() - begun - own) * 10)
print(json.dumps(found))
"""

# In turn, ten steps at a time. On one thread, for another one's heap made a step a fifth slower with no
# watcher at all. The watcher's clock runs on through the other side's steps, so that it reads up to twice
# as often here as it does alone: the ratio errs on the dear side.
IN_TURN = """
def train(watcher):
    begun = time.thread_time()
    for _ in range(10):
        train_step()
        if watcher is not None:
            watcher.step()
    return (time.thread_time() - begun) * 100

found = {"watched": [], "unwatched": []}
with xleak.Watcher(on_leak="raise") as watcher:
    for _ in range(10):
        train(watcher)
    for turn in range(120):
        for side in ("watched", "unwatched") if turn % 2 else ("unwatched", "watched"):
            found[side].append(train(watcher if side == "watched" else None))
print(json.dumps(found))
"""


def sides(script: str) -> dict[str, list[float]]:
    """What fresh processes measured, together."""
    samples: dict[str, list[float]] = {}
    for _ in range(PROCESSES):
        done = subprocess.run(
            [sys.executable, "-c", MODEL + script], capture_output=True, text=True, check=True
        )
        for side, times in json.loads(done.stdout).items():
            samples.setdefault(side, []).extend(times)
    return samples


def measure() -> list[Measurement]:
    return [
        Measurement(
            "the watcher's own time beside a training step of about 10 ms",
            "ms",
            sides(OWN_PART),
            [Claim("watcher", "step", AT_MOST_OF_STEP)],
        ),
        Measurement(
            "a training step of about 10 ms",
            "ms",
            sides(IN_TURN),
            [Claim("watched", "unwatched", AT_MOST)],
        ),
    ]
