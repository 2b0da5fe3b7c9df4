# %% a hook that collects activations  # expect: XL107
import torch

torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(300, 400), torch.nn.ReLU(), torch.nn.Linear(400, 30))
activations = []
net[1].register_forward_hook(lambda module, args, out: activations.append(out));  # lint: XL107
for batch in range(4):
    outputs = net(torch.rand(500, 300))

# %% hooks that fill lists by name  # expect: XL107
from collections import defaultdict

other = torch.nn.Sequential(torch.nn.Linear(300, 400), torch.nn.Linear(400, 300))
by_layer = defaultdict(list)

def collecting(name):
    def hook(module, args, out):
        by_layer[name].append(out.detach().clone())

    return hook

for name, layer in other.named_children():
    layer.register_forward_hook(collecting(name))  # lint: XL107
for batch in range(3):
    other(torch.rand(500, 300))

# %% a method that is a hook  # expect: XL107
class Recorder:
    def __init__(self):
        self.inputs = []

    def record(self, module, args):
        self.inputs.append(args[0])

recorder = Recorder()
third = torch.nn.Linear(600, 4)
handle = third.register_forward_pre_hook(recorder.record)  # lint: XL107
del handle
for batch in range(3):
    third(torch.rand(700, 600))

# %% an object that is a hook, of several layers  # expect: XL107
class Tap:
    def __init__(self):
        self.seen = {"outputs": []}

    def __call__(self, module, args, out):
        self.seen["outputs"].append(out.detach())

tap = Tap()
deep = torch.nn.Sequential(torch.nn.Linear(600, 500), torch.nn.ReLU(), torch.nn.Linear(500, 4))
for layer in deep:
    layer.register_forward_hook(tap)  # lint: XL107
for batch in range(3):
    deep(torch.rand(700, 600))

# %% one more at each run: made
fourth = torch.nn.Linear(4, 4)

# %% one more at each run: run
fourth.register_forward_hook(  # lint: XL107
    lambda module, args, out, mask=torch.rand(700, 600): out * mask.mean()
);

# %% one more at each run: run again  # expect: XL107
fourth.register_forward_hook(  # lint: XL107
    lambda module, args, out, mask=torch.rand(700, 600): out * mask.mean()
);
