# /// truth
# question = "hides"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch issue of 2020: the activation saved per sample is a view, the storage of the whole batch stays; the same in threads on CLS vectors of BERT"
# leaked = "20 * 32 * (128 - 1) * 128 * 4"
# cause_cell = 2
# cause_line = "out = enc(emb(ids))"
# holder = ["vecs"]
# repair = "vecs = [v.clone() for v in vecs]; del out"
# ///
# %%
import torch
from torch import nn

torch.manual_seed(0)
emb = nn.Embedding(5000, 128)
enc = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True).eval()
# %%
vecs = []
with torch.no_grad():
    for ids in torch.randint(0, 5000, (20, 32, 128)):
        out = enc(emb(ids))
        vecs.append(out[:, 0])
# %%
print(len(vecs), vecs[0].shape, vecs[0].norm(dim=1).mean().item())
