# /// truth
# question = "reach"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch pull request of 2022 that brought hooks for all optimizers, reviewed with a callback that fills a list; that it holds weights is our own"
# leaked = "20 * (512 * 512 + 512) * 4"
# cause_cell = 2
# cause_line = "p.detach().clone() for g in"
# holder = ["sys.modules['torch.optim.optimizer']._global_optimizer_post_hooks", "torch.optim.optimizer._global_optimizer_post_hooks", "_global_optimizer_post_hooks", "register_optimizer_step_post_hook", "optimizer hook"]
# repair = "from torch.optim.optimizer import _global_optimizer_post_hooks\n_global_optimizer_post_hooks.clear()"
# ///
# %%
import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook

torch.manual_seed(0)
# %%
def record_weights():
    path = []

    def note(opt, args, kwargs):
        path.append([p.detach().clone() for g in opt.param_groups for p in g["params"]])

    register_optimizer_step_post_hook(note)


# %%
record_weights()
fc = nn.Linear(512, 512)
sgd = torch.optim.SGD(fc.parameters(), lr=0.05)
for _ in range(20):
    sgd.zero_grad()
    (fc(torch.randn(64, 512)) ** 2).mean().backward()
    sgd.step()
# %%
print(fc.weight.norm().item())
