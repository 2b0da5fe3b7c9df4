# /// truth
# question = "reach"
# style = "short"
# needs = ["torch"]
# thread = "Look-alike of the reports on tracebacks: the error is caught, only its text is kept, the batch is halved as people do after an out-of-memory error"
# ///
# %%
import torch
from torch import nn

torch.manual_seed(0)
enc = nn.Linear(64, 2048)
notes = []
# %%
def forward(x, limit=1000):
    h = enc(x).relu()
    if len(x) > limit:
        raise MemoryError(f"{len(x)} rows do not fit")
    return h.mean(1).detach()


def forward_in_parts(x):
    try:
        return forward(x)
    except MemoryError as e:
        notes.append(str(e))
    a, b = x.chunk(2)
    return torch.cat([forward_in_parts(a), forward_in_parts(b)])


# %%
pooled = forward_in_parts(torch.randn(3000, 64))
print(pooled.shape, len(notes), notes[0])
