# /// truth
# question = "asked"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum, 2018: several models in one notebook, each deleted together with its optimizer before the next is made"
# ///
# %%
import gc, torch
from torch import nn

def train(width):
    torch.manual_seed(width)
    net = nn.Sequential(nn.Linear(512, width), nn.Tanh(), nn.Linear(width, 512))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(5):
        x = torch.randn(32, 512); loss = (net(x) - x).square().mean()
        opt.zero_grad(); loss.backward(); opt.step()
    return net, opt, loss.item()
# %%
net, opt, l1 = train(3000)
del net, opt
gc.collect(); torch.cuda.empty_cache()
# %%
net, opt, l2 = train(64)
print(l1, l2, net(torch.ones(1, 512)).shape)
