# %% an average over the batches, as a buffer: trained
import torch

class Centred(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("centre", torch.zeros(width))

    def forward(self, x):
        self.centre = 0.9 * self.centre + 0.1 * x.mean(0)  # lint: XL207
        return x - self.centre

centred = Centred(300)
encoder = torch.nn.Sequential(torch.nn.Linear(100, 300), torch.nn.Tanh())
for batch in range(8):
    shifted = centred(encoder(torch.rand(200, 100)))

# %% an average over the batches, as a buffer: still there  # expect: XL207
width = centred.centre.shape

# %% attributes of a layer inside a network: trained
class Scaled(torch.nn.Module):
    level, spread = 0.0, 1.0

    def forward(self, x):
        self.level = 0.5 * self.level + 0.5 * x.mean()  # lint: XL207
        self.spread = 0.5 * self.spread + 0.5 * x.std()  # lint: XL207
        return x

network = torch.nn.Sequential(torch.nn.Linear(100, 400), torch.nn.ReLU(), Scaled())
for batch in range(6):
    network(torch.rand(300, 100))

# %% attributes of a layer inside a network: still there  # expect: XL207
depth = len(network)

# %% a buffer that each batch overwrites: trained
class Last(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = torch.nn.Sequential(torch.nn.Linear(100, 400), torch.nn.Sigmoid())
        self.register_buffer("prototype", None)

    def forward(self, x):
        features = self.encode(x)
        self.prototype = features.mean(0)  # lint: XL207
        return features.detach()

last = Last()
for batch in range(2):
    last(torch.rand(2_000, 100))

# %% a buffer that each batch overwrites: still there  # expect: XL207
width = last.prototype.shape
