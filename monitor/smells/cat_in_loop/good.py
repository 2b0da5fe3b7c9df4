# %% what the cells below need
import torch

def rate(night):
    return torch.full((4096, 16), float(night))

# %% a list, and one concatenation
parts = []
for night in range(40):
    parts.append(rate(night))
scores = torch.cat(parts)

# %% a tensor of its full size
table = torch.empty(40, 4096, 16)
for night in range(40):
    table[night] = rate(night)

# %% a window of constant length
recent = torch.zeros(5 * 4096, 16)
for night in range(40):
    recent = torch.cat([recent[4096:], rate(night)])

# %% a few parts
week = torch.empty(0, 16)
for night in range(7):
    week = torch.cat([week, rate(night)])

# %% small parts
peaks = torch.empty(0)
for night in range(500):
    peaks = torch.cat([peaks, rate(night)[:1, 0]])  # lint: XL110

# %% a tensor that each iteration needs whole: blocks that see all before them
layers = [torch.nn.Linear(16 + 2 * n, 2) for n in range(12)]
with torch.no_grad():
    seen = rate(1)
    for layer in layers:
        seen = torch.cat((seen, layer(seen)), dim=1)

# %% a decoder with ways around
tide = rate(2)
for skip in [rate(n) for n in range(12)]:
    tide = tide.roll(1)
    tide = torch.cat([tide, skip])

# %% a cache of keys that is read in each step
class Keys:
    def __init__(self):
        self.keys = torch.empty(0, 16)

    def attend(self, key):
        self.keys = torch.cat([self.keys, key])
        return self.keys @ key[0]

cache = Keys()
for night in range(20):
    cache.attend(rate(night))

# %% a state and an input, new in each step
state = torch.zeros(4096, 8)
for night in range(20):
    both = torch.cat([rate(night), state], dim=1)
    state = both[:, :8].clone()

# %% batches of growing length, and a small tensor that grows
counts = torch.empty(0)
for night in range(1, 20):
    batch = torch.ones(night, 4096, 4)
    counts = torch.cat([counts, batch.sum().reshape(1)])  # lint: XL110

# %% a buffer that is written out whenever it is full
pending, written = torch.empty(0, 16), 0
for night in range(40):
    pending = torch.cat([pending, rate(night)])
    if len(pending) >= 12 * 4096:
        written += len(pending)
        pending = torch.empty(0, 16)
