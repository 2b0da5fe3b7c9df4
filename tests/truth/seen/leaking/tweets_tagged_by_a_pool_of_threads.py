# /// truth
# question = "reach"
# style = "long"
# needs = ["torch", "numpy", "pandas"]
# thread = "dask.distributed pull request of 2017 and tch-rs issue of 2019: thread locals stay in memory as long as the threads of a pool are not ended"
# leaked = "3 * ((30000 * 160 + 160 * 160 + 160 + 160 * 4 + 4) * 4)"
# cause_cell = 6
# cause_line = "tls.model = copy.deepcopy(tagger)"
# holder = ["tls", "tls.model", "threading.local", "thread-local", "thread local", "ThreadPoolExecutor", "pool"]
# repair = "pool.shutdown()"
# ///
# %%
import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
rng = np.random.default_rng(12)
# %%
VOCAB, TAGS = 30_000, ["news", "sport", "ads", "chat"]
zipf = 1 / np.arange(1, VOCAB + 1)
zipf /= zipf.sum()
tweets = [rng.choice(VOCAB, rng.integers(4, 20), p=zipf) for _ in range(1200)]
pd.Series([len(t) for t in tweets]).describe().round(1)
# %%
class Tagger(nn.Module):
    def __init__(self, dim=160):
        super().__init__()
        self.emb = nn.EmbeddingBag(VOCAB, dim)
        self.mid = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, len(TAGS))

    def forward(self, ids, offsets):
        return self.out(torch.tanh(self.mid(self.emb(ids, offsets))))


# %%
tagger = Tagger().eval()
n_par = sum(p.numel() for p in tagger.parameters())
print(f"{n_par / 1e6:.1f} M parameters")
# %%
def pack(batch):
    ids = torch.from_numpy(np.concatenate(batch))
    offsets = torch.tensor(np.cumsum([0] + [len(b) for b in batch[:-1]]))
    return ids, offsets


# %%
tls = threading.local()


def init():
    tls.model = copy.deepcopy(tagger)  # not sure that forward is thread safe


@torch.inference_mode()
def tag(batch):
    return tls.model(*pack(batch)).argmax(1).tolist()


# %%
pool = ThreadPoolExecutor(max_workers=3, initializer=init)
batches = [tweets[i : i + 60] for i in range(0, len(tweets), 60)]
tags = [t for part in pool.map(tag, batches) for t in part]
# %%
df = pd.DataFrame({"n": [len(t) for t in tweets], "tag": pd.Categorical.from_codes(tags, TAGS)})
df.tag.value_counts()
# %%
with torch.no_grad():
    again = tagger(*pack(tweets)).argmax(1).tolist()
print("same as in one thread:", np.mean(np.array(again) == np.array(tags)))
# %%
by_len = df.groupby(pd.cut(df.n, [0, 7, 12, 20]), observed=True).tag.agg(lambda s: s.mode()[0])
by_len
# %%
rare = df.tag.value_counts().idxmin()
print("rarest tag:", rare, "in", int((df.tag == rare).sum()), "tweets")
