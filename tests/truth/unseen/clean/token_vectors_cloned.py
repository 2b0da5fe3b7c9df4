# /// truth
# question = "hides"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch issue of 2020 on activations saved per sample; written with clone, as the answer says"
# ///
# %%
import torch
from torch import nn

torch.manual_seed(0)
emb = nn.Embedding(5000, 128)
enc = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True).eval()

@torch.no_grad()
def embed(ids):
    return enc(emb(ids))[:, 0].clone()

vecs = torch.cat([embed(ids) for ids in torch.randint(0, 5000, (20, 32, 128))])
# %%
sim = nn.functional.cosine_similarity(vecs[:1], vecs)
sim.topk(3).indices.tolist()
