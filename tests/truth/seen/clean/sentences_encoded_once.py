# /// truth
# question = "reach"
# style = "short"
# needs = ["torch"]
# thread = "Look-alike of lru_cache on methods: the cache is made for the one instance, on plain arguments, with a bound, and goes with it"
# ///
# %%
from functools import lru_cache

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(40_000, 128)
        self.encode = lru_cache(maxsize=64)(self._encode)

    def _encode(self, text):
        ids = torch.tensor([[sum(map(ord, w)) * 31 % 40_000 for w in text.split()]])
        with torch.no_grad():
            return self.emb(ids)[0]


# %%
def closest(query, texts, seed):
    torch.manual_seed(seed)
    enc = Encoder()
    return max(texts, key=lambda t: torch.dot(enc.encode(query), enc.encode(t)).item())


# %%
texts = ["a ship in the harbour", "two cats on a mat", "the harbour at night"] * 5
print([closest("harbour lights", texts, s) for s in range(3)])
