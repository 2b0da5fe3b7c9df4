# /// truth
# question = "hides"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum and many issues since 2017: validation loss added up as a tensor, memory grows with every batch, answer is item()"
# leaked = "20 * 512 * 1024 * 4"
# cause_cell = 2
# cause_line = "val_loss += crit(net(xb), yb)"
# holder = ["val_loss"]
# repair = "val_loss = val_loss.item()"
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
val_loss = 0
for xb, yb in zip(X.split(512), y.split(512)):
    val_loss += crit(net(xb), yb)
# %%
print(f"val loss {val_loss / 20:.4f}")
