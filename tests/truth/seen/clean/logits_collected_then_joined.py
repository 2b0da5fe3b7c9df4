# /// truth
# question = "grows"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum thread of about 2018: predictions of all batches in a list, then torch.cat for the score, under no_grad"
# ///
# %%
import torch
from torch import nn
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 300))
X, y = torch.randn(20_000, 40), torch.randint(300, (20_000,))
# %%
outs = []
with torch.no_grad():
    for xb in X.split(500):
        outs.append(model(xb))
# %%
logits = torch.cat(outs)
top5 = (logits.topk(5).indices == y[:, None]).any(1).float().mean()
# %%
worst = torch.stack([o.max(1).values.min() for o in outs])
print(f"{top5:.4f} {worst.min():.3f}")
