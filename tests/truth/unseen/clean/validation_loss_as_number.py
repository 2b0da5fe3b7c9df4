# /// truth
# question = "hides"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum since 2017 on losses added up as tensors; written as the answers say"
# ///
# %%
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 1))
crit = nn.MSELoss()
X, y = torch.randn(20 * 512, 64), torch.randn(20 * 512, 1)
# %%
net.eval()
val_loss, worst = 0.0, []
for xb, yb in zip(X.split(512), y.split(512)):
    loss = crit(net(xb), yb)
    val_loss += loss.item()
    worst.append(loss.detach())
del loss
# %%
print(f"val loss {val_loss / 20:.4f}, worst batch {torch.stack(worst).max():.4f}")
