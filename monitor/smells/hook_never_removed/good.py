# %% a handle that removes it at the end of the cell
import torch

torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(300, 400), torch.nn.ReLU(), torch.nn.Linear(400, 30))
activations = []
handle = net[1].register_forward_hook(
    lambda module, args, out: activations.append(out.detach())
)
for batch in range(4):
    outputs = net(torch.rand(500, 300))
handle.remove()

# %% with a handle
with net[1].register_forward_hook(lambda module, args, out: activations.append(out.detach())):
    for batch in range(4):
        outputs = net(torch.rand(500, 300))

# %% fixed keys of a dictionary
latest = {}

def keeping(name):
    def hook(module, args, out):
        latest[name] = out.detach()

    return hook

for name, layer in net.named_children():
    layer.register_forward_hook(keeping(name))
for batch in range(4):
    outputs = net(torch.rand(500, 300))

# %% numbers alone
means = []
net[0].register_forward_hook(lambda module, args, out: means.append(out.mean().item()))
for batch in range(4):
    outputs = net(torch.rand(500, 300))

# %% a hook that reads a large list
masks = [torch.rand(500, 400) for number in range(3)]
scales = []

def masked(module, args, out):
    scales.append(len(masks))
    return out * masks[len(scales) % 3]

net[1].register_forward_hook(masked)
outputs = net(torch.rand(500, 300))

# %% hooks of torch's own
wide = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(600, 700))
normed = torch.nn.utils.spectral_norm(torch.nn.Linear(600, 700))
outputs = normed(wide.weight[:, :600].detach())

# %% in use until a later cell: registered
kept = []
handles = [layer.register_forward_hook(lambda m, a, out: kept.append(out.detach())) for layer in net]

# %% in use until a later cell: used
outputs = net(torch.rand(500, 300))

# %% in use until a later cell: removed
for handle in handles:
    handle.remove()

# %% an object that keeps no more than the latest
class Latest:
    def __init__(self):
        self.output = None

    def __call__(self, module, args, out):
        self.output = out.detach()

newest = Latest()
net.register_forward_hook(newest)
for batch in range(3):
    outputs = net(torch.rand(500, 300))

# %% a model of its own for each run
def hooked():
    model = torch.nn.Linear(600, 700)
    model.register_forward_hook(lambda module, args, out: out * 2)
    return model

model = hooked()

# %% a model of its own for each run, again
model = hooked()
