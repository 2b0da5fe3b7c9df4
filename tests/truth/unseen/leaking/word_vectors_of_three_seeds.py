# /// truth
# question = "reach"
# style = "short"
# needs = ["torch"]
# thread = "Stack Overflow question of 2015 that many issues cite: lru_cache on a method has self in its keys, instances are never released"
# leaked = "3 * 30000 * 128 * 4"
# cause_cell = 1
# cause_line = "self.emb = nn.Embedding(30_000, 128)"
# holder = ["WordVectors.vector", "WordVectors.vector.cache", "lru_cache", "_lru_cache_wrapper"]
# repair = "WordVectors.vector.cache_clear()"
# ///
# %%
from functools import lru_cache

import torch
from torch import nn


class WordVectors(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(30_000, 128)

    @lru_cache(maxsize=None)
    def vector(self, word):
        with torch.no_grad():
            return self.emb(torch.tensor(sum(map(ord, word)) % 30_000))


# %%
def similarity(a, b, seed):
    torch.manual_seed(seed)
    wv = WordVectors()
    return torch.cosine_similarity(wv.vector(a), wv.vector(b), dim=0).item()


# %%
print([round(similarity("ship", "harbour", s), 3) for s in range(3)])
