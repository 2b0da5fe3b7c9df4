# /// truth
# question = "asked"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum, 2018: best state copied with deepcopy, net deleted, a fresh one gets the weights for the test"
# ///
# %%
import copy, torch
from torch import nn
new = lambda: nn.Sequential(nn.Linear(300, 2500), nn.ReLU(), nn.Linear(2500, 1))
torch.manual_seed(1)
net, best, low = new(), None, 1e9
X = torch.randn(256, 300); y = X[:, :3].sum(1, keepdim=True)
# %%
for lr in (.01, .02, .05):
    loss = (net(X) - y).square().mean(); net.zero_grad(); loss.backward()
    if loss.item() < low: low, best = loss.item(), copy.deepcopy(net.state_dict())
    with torch.no_grad(): [p.sub_(lr * p.grad) for p in net.parameters()]
# %%
del net, loss
# %%
final = new(); final.load_state_dict(best)
print(low, (final(X) - y).square().mean().item())
