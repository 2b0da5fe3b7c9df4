# /// truth
# question = "grows"
# style = "long"
# needs = ["torch", "numpy"]
# thread = "GitHub issues on generation loops of about 2023, as they were solved: the key and value cache is reset for each prompt"
# order = [1, 2, 3, 4, 5, 6, 7, 6, 7, 6, 7, 8, 9]
# ///
# %% [markdown]
# # Melody continuation with a cached attention layer
# %%
import math

import numpy as np
import torch
from torch import nn

torch.manual_seed(1)
notes = ["C", "D", "E", "F", "G", "A", "B", "c"]
# %%
def melodies(n=600, length=24):
    rng = np.random.default_rng(1)
    start = rng.integers(0, 8, n)
    steps = rng.choice([-2, -1, 0, 1, 2], p=[0.1, 0.35, 0.1, 0.35, 0.1], size=(n, length))
    return torch.from_numpy((start[:, None] + steps.cumsum(1)) % 8)

data = melodies()
data.shape
# %%
class Decoder(nn.Module):
    def __init__(self, d=256):
        super().__init__()
        self.emb, self.qkv, self.out = nn.Embedding(8, d), nn.Linear(d, 3 * d), nn.Linear(d, 8)
        self.cache = None

    def forward(self, ids, use_cache=False):
        q, k, v = self.qkv(self.emb(ids)).chunk(3, -1)
        if use_cache:
            if self.cache is not None:
                k, v = torch.cat([self.cache[0], k], 1), torch.cat([self.cache[1], v], 1)
            self.cache = (k, v)
        w = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        if not use_cache:
            w = w.masked_fill(torch.ones(w.shape[-2:]).triu(1).bool(), -1e9)
        return self.out(w.softmax(-1) @ v)

    def reset_cache(self):
        self.cache = None
# %%
net = Decoder()
opt = torch.optim.Adam(net.parameters(), 1e-3)
losses = []
for epoch in range(4):
    for b in data.split(60):
        logits = net(b[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), b[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
losses[0], losses[-1]
# %%
songs = []

@torch.no_grad()
def sing(prompt, n, temperature=0.9):
    out = []
    x = prompt
    for _ in range(n):
        logits = net(x, use_cache=True)[:, -1]
        x = (logits / temperature).softmax(-1).multinomial(1)
        out.append(x)
    net.reset_cache()
    return torch.cat(out, 1)
# %%
prompt = data[:64, : 8 + len(songs)]
song = sing(prompt, 120)
songs.append(song)
# %%
print(" ".join(notes[i] for i in song[0, :16]), f"{song.float().mean():.2f}")
# %%
jumps = torch.stack([(s[:, 1:] - s[:, :-1]).abs().float().mean() for s in songs])
ref = (data[:, 1:] - data[:, :-1]).abs().float().mean()
print("mean jump", jumps.numpy().round(2), "of the data", round(ref.item(), 2))
# %%
count = sum(torch.bincount(s.flatten(), minlength=8) for s in songs)
dict(zip(notes, (count / count.sum()).numpy().round(3).tolist()))
