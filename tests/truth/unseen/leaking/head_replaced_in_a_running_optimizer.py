# /// truth
# question = "grows"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum thread of about 2020: new head with add_param_group each time the cell is run, the optimizer keeps the old parameters and their Adam state"
# order = [1, 2, 2, 2, 3]
# leaked = "2 * 3 * (1000 * 1024 + 1000) * 4"
# cause_cell = 2
# cause_line = "head = nn.Linear"
# holder = ["opt", "opt.param_groups", "opt.state"]
# repair = """
# for g in opt.param_groups[1:-1]:
#     for p in g["params"]:
#         opt.state.pop(p)
# del opt.param_groups[1:-1], g, p
# """
# ///
# %%
import torch
from torch import nn
torch.manual_seed(0)
body = nn.Sequential(nn.Linear(128, 1024), nn.ReLU())
opt = torch.optim.Adam(body.parameters(), lr=1e-3)
# %%
head = nn.Linear(1024, 1000)
opt.add_param_group({"params": head.parameters(), "lr": 1e-2})
for _ in range(5):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(head(body(torch.randn(32, 128))), torch.randint(1000, (32,)))
    loss.backward()
    opt.step()
# %%
with torch.no_grad():
    print(float(loss), head(body(torch.randn(4, 128))).argmax(1))
