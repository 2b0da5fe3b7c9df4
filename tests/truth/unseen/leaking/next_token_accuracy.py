# /// truth
# question = "unused"
# style = "short"
# needs = ["torch"]
# thread = "GitHub, LearningByCheating, 2020: tensors of the last batch live on behind the loop, since a for loop opens no scope"
# leaked = "4 * 384 * 16_000 * 2"
# cause_cell = 3
# cause_line = "logits = head(body(xb))"
# holder = ["logits", "probs"]
# repair = "del logits, probs"
# ///
# %%
import torch
from torch import nn

torch.manual_seed(1)
V, D = 16_000, 48
body, head = nn.Sequential(nn.Embedding(V, D), nn.Linear(D, D), nn.Tanh()), nn.Linear(D, V)
# %%
ids = torch.randint(0, V, (384 * 4 + 1,))
batches = list(zip(ids[:-1].split(384), ids[1:].split(384)))
# %%
hits, conf = 0, []
with torch.no_grad():
    for xb, yb in batches:
        logits = head(body(xb))
        probs = logits.softmax(-1)
        hits += (logits.topk(5).indices == yb[:, None]).any(1).sum().item()
        conf.append(probs.max(1).values)
# %%
conf = torch.cat(conf)
print(f"top 5 {hits / len(conf):.4f}, confidence {conf.mean():.4f}")
# %%
with torch.no_grad():
    print(head(body(ids[:3])).argmax(1))
