# %% without a graph
import torch

class Centred(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("centre", torch.zeros(width))

    def forward(self, x):
        with torch.no_grad():
            self.centre.lerp_(x.mean(0), 0.1)
        return x - self.centre

centred = Centred(300)
encoder = torch.nn.Sequential(torch.nn.Linear(100, 300), torch.nn.Tanh())
for batch in range(8):
    shifted = centred(encoder(torch.rand(200, 100)))

# %% detached
class Scaled(torch.nn.Module):
    level = 0.0

    def forward(self, x):
        self.level = 0.5 * self.level + 0.5 * x.mean().detach()
        return x

network = torch.nn.Sequential(torch.nn.Linear(100, 400), torch.nn.ReLU(), Scaled())
for batch in range(6):
    network(torch.rand(300, 100))

# %% torch's own
normed = torch.nn.Sequential(torch.nn.Linear(100, 400), torch.nn.BatchNorm1d(400))
for batch in range(6):
    normed(torch.rand(300, 100))

# %% a scale that is learned
class Learned(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(400))

    def forward(self, x):
        return x * self.scale

learned = torch.nn.Sequential(torch.nn.Linear(100, 400), Learned())
outputs = learned(torch.rand(300, 100))

# %% an average of the weights
average = {name: weight.detach().clone() for name, weight in network.named_parameters()}
for step in range(6):
    with torch.no_grad():
        for name, weight in network.named_parameters():
            average[name].lerp_(weight, 0.1)

# %% the end
count = len(average)
