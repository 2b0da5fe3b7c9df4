# /// truth
# question = "asked"
# style = "long"
# needs = ["torch", "pandas", "matplotlib"]
# thread = "PyTorch forum, 2021: distillation, the teacher was deleted and the memory is still full; it had been handed to the loss"
# leaked = "4 * (64 * 1600 + 1600 + 2 * (1600 * 1600 + 1600) + 1600 * 6 + 6)"
# cause_cell = 3
# cause_line = "layers += [nn.Linear(d, w), nn.ReLU()]"
# holder = ["criterion", "criterion.teacher", "SoftTargets"]
# repair = "criterion.teacher = None"
# ///
# %%
import gc
import pandas as pd
import torch, torch.nn as nn, torch.nn.functional as F
import matplotlib.pyplot as plt
DEV = "cuda" if torch.cuda.is_available() else "cpu"
# %%
torch.manual_seed(123)
centers = torch.randn(6, 64)
def draw(n):
    y = torch.randint(0, 6, (n,))
    return (centers[y] + 1.6 * torch.randn(n, 64)).to(DEV), y.to(DEV)
xtr, ytr = draw(1500)
xte, yte = draw(600)
# %%
def mlp(widths, d=64, out=6):
    layers = []
    for w in widths:
        layers += [nn.Linear(d, w), nn.ReLU()]
        d = w
    return nn.Sequential(*layers, nn.Linear(d, out)).to(DEV)
# %%
class SoftTargets(nn.Module):
    def __init__(self, teacher, T=3., alpha=.7):
        super().__init__()
        self.teacher, self.T, self.alpha = teacher.eval().requires_grad_(False), T, alpha
    def forward(self, logits, x, y):
        soft = F.log_softmax(logits / self.T, 1)
        aim = F.softmax(self.teacher(x) / self.T, 1)
        return self.alpha * self.T ** 2 * F.kl_div(soft, aim, reduction="batchmean") + (1 - self.alpha) * F.cross_entropy(logits, y)
# %%
@torch.no_grad()
def accuracy(m):
    return (m(xte).argmax(1) == yte).float().mean().item()
# %%
teacher = mlp([1600, 1600, 1600])
o = torch.optim.SGD(teacher.parameters(), lr=.05)
for i in range(0, 1500, 100):
    l = F.cross_entropy(teacher(xtr[i:i + 100]), ytr[i:i + 100])
    o.zero_grad(); l.backward(); o.step()
o.zero_grad()
acc_teacher = accuracy(teacher)
# %%
student = mlp([48])
criterion = SoftTargets(teacher)
o = torch.optim.Adam(student.parameters(), lr=4e-3)
curve = []
for ep in range(5):
    for i in range(0, 1500, 100):
        s = slice(i, i + 100)
        l = criterion(student(xtr[s]), xtr[s], ytr[s])
        o.zero_grad(); l.backward(); o.step()
    curve.append(accuracy(student))
# %%
teacher = None
gc.collect()
if DEV == "cuda": torch.cuda.empty_cache()
# %%
sizes = {"student": sum(p.numel() for p in student.parameters())}
pd.Series(curve, name="acc").plot(); plt.savefig("acc.png"); plt.close()
sizes
# %%
student.eval()
with torch.no_grad():
    p = F.softmax(student(xte), 1)
calib = pd.DataFrame({"conf": p.max(1).values.cpu().numpy(), "hit": (p.argmax(1) == yte).cpu().numpy()})
calib.groupby(pd.cut(calib.conf, [0, .6, .8, .9, 1.01]), observed=True).hit.mean()
# %%
print(f"teacher {acc_teacher:.3f} student {curve[-1]:.3f} with {sizes['student']} weights")
