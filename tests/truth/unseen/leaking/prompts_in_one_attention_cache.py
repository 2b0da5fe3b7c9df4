# /// truth
# question = "grows"
# style = "long"
# needs = ["torch", "numpy"]
# thread = "GitHub issues on generation loops of about 2023: the key and value cache is not reset between prompts, memory and time per token rise with each call"
# order = [1, 2, 3, 4, 5, 6, 7, 8, 7, 8, 7, 8, 9, 10]
# leaked = "3 * 4 * 2 * (300 + 20) * 1024 * 4"
# cause_cell = 3
# cause_line = "torch.cat([self."
# holder = ["lm", "cache", "Attention", "k_cache", "v_cache"]
# repair = "lm.reset()"
# ///
# %% [markdown]
# # A tiny character model: what does it answer?
# %%
import math

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
torch.set_grad_enabled(False)
# %%
chars = " abcdefghijklmnopqrstuvwxyz.,!?\n"
stoi = {c: i for i, c in enumerate(chars)}

def encode(s):
    return torch.tensor([stoi[c] for c in s.lower() if c in stoi])

def decode(ids):
    return "".join(chars[i] for i in ids)
# %%
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.reset()

    def reset(self):
        d = self.out.in_features
        self.k_cache, self.v_cache = torch.zeros(0, d), torch.zeros(0, d)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        self.k_cache = torch.cat([self.k_cache, k])
        self.v_cache = torch.cat([self.v_cache, v])
        att = (q @ self.k_cache.T / math.sqrt(q.shape[-1])).softmax(-1)
        return self.out(att @ self.v_cache)
# %%
class LM(nn.Module):
    def __init__(self, d=1024, layers=4):
        super().__init__()
        self.emb = nn.Embedding(len(chars), d)
        self.att = nn.ModuleList(Attention(d) for _ in range(layers))
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, len(chars))

    def reset(self):
        for a in self.att:
            a.reset()

    def forward(self, ids):
        x = self.emb(ids)
        for a in self.att:
            x = x + a(self.norm(x))
        return self.head(x[-1])
# %%
lm = LM().eval()
print(sum(p.numel() for p in lm.parameters()) // 1000, "k parameters")
# %%
text = "it was a bright cold day in april and all the clocks were late again, "
prompt = (text * 6)[:300]
ids = encode(prompt)
len(ids)
# %%
def generate(ids, n):
    out, logits = [], lm(ids)
    for _ in range(n):
        nxt = int((logits / 0.8).softmax(-1).multinomial(1))
        out.append(nxt)
        logits = lm(torch.tensor([nxt]))
    return out

answer = generate(ids, 20)
# %%
print(repr(decode(answer)))
# %% [markdown]
# Are the answers more than noise?
# %%
freq = np.bincount(answer, minlength=len(chars)) / len(answer)
ref = np.bincount(ids.numpy(), minlength=len(chars)) / len(ids)
kl = float(np.sum(ref * np.log((ref + 1e-9) / (freq + 1e-3))))
print(f"KL to the prompt {kl:.2f}, uniform {np.log(len(chars)):.2f}")
# %%
torch.set_grad_enabled(True)
vowels = sum(c in "aeiou" for c in decode(answer)) / len(answer)
{"kl": round(kl, 2), "vowels": round(vowels, 2), "distinct": len(set(answer))}
