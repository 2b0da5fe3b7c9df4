# /// truth
# question = "asked"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum, 2019: a slice of a tensor keeps the storage of the whole, memory does not fall after del"
# leaked = "4 * 60_000 * 256"
# cause_cell = 1
# cause_line = "lm = Tagger("
# holder = ["special", "special.untyped_storage()", "storage", "view"]
# repair = "special = special.clone()"
# ///
# %%
import torch
from torch import nn

class Tagger(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.out = nn.Linear(dim, 9)

lm = Tagger(60_000, 256)
# %%
special = lm.tok.weight.detach()[:8]
del lm
torch.nn.functional.cosine_similarity(special[:1], special).shape
