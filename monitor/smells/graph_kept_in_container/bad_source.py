# %% a container
import torch
from torch import nn

encoder = nn.TransformerEncoderLayer(32, 4).to("cuda")
embeddings = {}

# %% filled in a later cell
for name, tokens in corpus:
    vector = encoder(tokens)
    embeddings[name] = vector  # lint: XL101

# %% in an object, by a method that a loop calls, and copied to the host
class Collector:
    def __init__(self):
        self.net = nn.Linear(4, 4)
        self.seen = []

    def look(self, batch):
        self.seen.append((batch, self.net(batch).cpu()))  # lint: XL101

collector = Collector()
for batch in loader:
    collector.look(batch)

# %% by a comprehension, of a model that a function makes
def build():
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh())

net = build()
features = [net(image).clone() for image in images]  # lint: XL101

# %% in a function, into a list of the module
outputs = []

def run(loader):
    for batch in loader:
        hidden = net(batch)
        outputs.extend([hidden, hidden.square()])  # lint: XL101
