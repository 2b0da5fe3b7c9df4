# /// truth
# question = "grows"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum and Stack Overflow, about 2021: lru_cache on a function of a tensor never hits, tensors hash by identity, and the cache keeps input and result"
# order = [1, 2, 3, 3, 3]
# leaked = "3 * 30 * 256 * 384 * 4"
# cause_cell = 2
# cause_line = "out = enc(batch)"
# holder = ["embed", "lru_cache", "cache"]
# repair = "embed.cache_clear()"
# ///
# %%
import functools, torch
from torch import nn
torch.manual_seed(0)
enc = nn.Sequential(nn.Linear(512, 384), nn.Tanh()).eval()
docs = torch.randn(30 * 256, 512)
# %%
@functools.lru_cache(maxsize=None)
def embed(batch):
    with torch.no_grad():
        out = enc(batch)
    return out
# %%
query = torch.randn(384)
scores = torch.cat([embed(docs[i : i + 256]) @ query for i in range(0, len(docs), 256)])
scores.topk(5).indices
