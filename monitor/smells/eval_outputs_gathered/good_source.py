# %% reduced batch by batch
import torch
import torch.nn as nn

lm = nn.Linear(6, 3).to("cpu")
texts = [torch.rand(4, 6) for batch in range(10)]
right = 0
with torch.no_grad():
    for batch in texts:
        right += lm(batch).argmax(-1).eq(0).sum().item()

# %% reduced before it is kept
with torch.no_grad():
    labels = [lm(batch).argmax(-1) for batch in texts]
share = torch.cat(labels).float().mean()

# %% kept on the host
with torch.no_grad():
    embeddings = [lm(batch).cpu() for batch in texts]
spread = torch.cat(embeddings).std()

# %% saved for later
with torch.no_grad():
    vectors = [lm(batch) for batch in texts]
table = torch.cat(vectors)
shape, first = table.mean(0), table[0]
