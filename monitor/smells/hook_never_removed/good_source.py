# %% gradients of a temporary tensor
import torch

net = torch.nn.Linear(4, 4)
for batch in loader:
    scores = net(batch)
    scores.register_hook(lambda gradient: print(gradient.norm()))
    scores.sum().backward()

# %% the caller gets the handle
def attach(module, hook):
    return module.register_forward_hook(hook)

# %% a context
with net.register_forward_hook(attach):
    net(batch)

# %% another register of others
atexit.register_hook_of_others(net)
