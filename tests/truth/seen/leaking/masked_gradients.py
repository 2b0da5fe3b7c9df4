# /// truth
# question = "asked"
# style = "short"
# needs = ["torch"]
# thread = "GitHub, pytorch, 2021: hooks on parameters hold what their closure captured; removed only by the handle"
# leaked = "4 * 2000 * 2500"
# cause_cell = 2
# cause_line = "mask = (torch.rand("
# holder = ["w._backward_hooks", "layer.weight", "hook", "handle", "freeze_part"]
# repair = "handle.remove()"
# ///
# %%
import torch
layer = torch.nn.Linear(2500, 2000, bias=False)
# %%
def freeze_part(w, share):
    mask = (torch.rand(w.shape) > share).float()
    return mask, w.register_hook(lambda g: g * mask)

mask, handle = freeze_part(layer.weight, 0.3)
print("frozen", 1 - mask.mean().item())
# %%
mask = None
layer.weight.requires_grad_(False)
layer(torch.ones(1, 2500)).sum()
