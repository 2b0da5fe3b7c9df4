# /// truth
# question = "hides"
# style = "long"
# needs = ["torch"]
# thread = "CPython issue 2021 to 2024 by a speech training project: the exception that was caught for the report keeps all frames, activations with them"
# leaked = "4 * 512 * 4096 * 4"
# cause_cell = 5
# cause_line = "feats = body(x)"
# holder = ["fail_log"]
# repair = "for _, err in fail_log: err.__traceback__ = None"
# ///
# %% [markdown]
# # Check of the camera archive with the trained net
# %%
import math

import torch
from torch import nn

torch.manual_seed(2)
# %%
def load(i, n=512):
    g = torch.Generator().manual_seed(i)
    x = torch.rand(n, 64, generator=g)
    if i % 5 == 3:
        x[i, 7] = math.nan
    return x
# %%
body = nn.Sequential(nn.Linear(64, 4096), nn.ReLU())
head = nn.Linear(4096, 5)
NAMES = ["empty", "fox", "boar", "deer", "bird"]
# %%
with torch.no_grad():
    head.bias += torch.tensor([0.4, 0, 0, 0.1, 0])
sum(p.numel() for p in body.parameters())
# %%
@torch.no_grad()
def classify(i):
    x = load(i)
    feats = body(x)
    logits = head(feats)
    if not torch.isfinite(logits).all():
        rows = (~torch.isfinite(logits).all(1)).nonzero().flatten().tolist()
        raise FloatingPointError(f"batch {i}: rows {rows}")
    return logits.softmax(1)
# %%
fail_log, sure, counts = [], [], torch.zeros(5)
for i in range(20):
    try:
        p = classify(i)
    except FloatingPointError as err:
        fail_log.append((i, err))
        continue
    counts += p.argmax(1).bincount(minlength=5)
    sure.append(p.max(1).values.mean().item())
# %%
print(f"{len(fail_log)} batches failed")
for i, err in fail_log:
    print("  ", err)
# %%
dict(zip(NAMES, counts.int().tolist()))
# %%
sure = torch.tensor(sure)
print(f"confidence {sure.mean():.3f} +- {sure.std():.3f}")
# %%
share = counts / counts.sum()
entropy = -(share * (share + 1e-9).log()).sum().item()
round(entropy, 3)
# %%
doubtful = (sure < sure.mean() - sure.std()).nonzero().flatten()
print("look again at", doubtful.tolist())
# %%
print(f"{int(counts.sum())} pictures, most often {NAMES[int(counts.argmax())]}, {len(doubtful)} batches doubtful")
