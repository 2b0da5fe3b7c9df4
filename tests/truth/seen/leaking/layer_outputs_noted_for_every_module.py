# /// truth
# question = "reach"
# style = "short"
# needs = ["torch"]
# thread = "opacus issue of 2021 and ColossalAI issue of 2022 on hooks at all layers: they save activations in evaluation too, and memory grows"
# leaked = "4 * 500 * (2 * 1024 + 2 * 512 + 10) * 4"
# cause_cell = 3
# cause_line = "preds.append(net(xb).argmax(1))"
# holder = ["torch.nn.modules.module._global_forward_hooks", "_global_forward_hooks", "register_module_forward_hook", "forward hook"]
# repair = "import torch; torch.nn.modules.module._global_forward_hooks.clear()"
# ///
# %%
import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook


def watch_shapes():
    seen = []
    register_module_forward_hook(lambda mod, args, out: seen.append((type(mod).__name__, out)))


watch_shapes()
# %%
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 10))
# %%
preds = []
with torch.no_grad():
    for xb in torch.randn(2000, 256).split(500):
        preds.append(net(xb).argmax(1))
print(torch.cat(preds).bincount(minlength=10))
