# %% a sum of losses: left
import torch

net = torch.nn.Sequential(torch.nn.Linear(200, 400), torch.nn.ReLU(), torch.nn.Linear(400, 20))
total = 0.0
for batch in range(20):
    total = total + net(torch.rand(100, 200)).square().mean()  # lint: XL203

# %% a sum of losses: still there  # expect: XL203
kind = total.dtype

# %% an average that forgets, beside the last loss: left
average = None
for batch in range(15):
    loss = net(torch.rand(100, 200)).abs().mean()
    average = loss if average is None else 0.9 * average + 0.1 * loss  # lint: XL203

# %% an average that forgets, beside the last loss: still there  # expect: XL203
kind = average.dtype

# %% sums by name: left
sums = {"error": 0.0, "penalty": 0.0}
for batch in range(12):
    scores = net(torch.rand(100, 200))
    sums["error"] += scores.square().mean()  # lint: XL203
    sums["penalty"] += scores.abs().sum()  # lint: XL203

# %% sums by name: still there  # expect: XL203
names = sorted(sums)

# %% the largest so far, in an object: left
class Meter:
    worst = torch.tensor(0.0)

meter = Meter()
for batch in range(12):
    meter.worst = torch.maximum(meter.worst, net(torch.rand(200, 200)).square().mean())  # lint: XL203

# %% the largest so far, in an object: still there  # expect: XL203
kind = meter.worst.dtype

# %% a sum beside a list of its terms: left
curve, sum_of_curve = [], 0.0
for batch in range(16):
    loss = net(torch.rand(120, 200)).square().mean()
    curve.append(loss)  # lint: XL102
    sum_of_curve = sum_of_curve + loss  # lint: XL203

# %% a sum beside a list of its terms: still there  # expect: XL203
kind = sum_of_curve.dtype
