# /// truth
# question = "asked"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum and Stack Overflow, 2018 and later: del model, gc.collect and empty_cache change nothing while the optimizer is there"
# leaked = "3 * 4 * (1500 * 1500 + 1500)"
# cause_cell = 2
# cause_line = "opt.step()"
# holder = ["opt", "opt.param_groups", "opt.state", "Adam"]
# repair = "del opt"
# ///
# %%
import gc, torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(1500, 1500)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
# %%
for _ in range(3):
    x = torch.randn(16, 1500)
    (net(x) - x).pow(2).mean().backward()
    opt.step()
    opt.zero_grad()
# %%
del net, x
gc.collect()
torch.cuda.empty_cache()
