# %% a head with many classes
import torch
import torch.nn as nn

lm = nn.Linear(6, 4096)
texts = [torch.rand(2048, 6) for batch in range(9)]
gold = torch.zeros(9 * 2048, dtype=torch.long)

# %% reduced batch by batch
right = 0
with torch.no_grad():
    for batch in texts:
        right += lm(batch).argmax(-1).eq(0).sum().item()

# %% reduced before it is kept
with torch.no_grad():
    labels = [lm(batch).argmax(-1) for batch in texts]
share = torch.cat(labels).float().mean()

# %% a small set
with torch.no_grad():
    few = [lm(batch) for batch in texts[:4]]  # lint: XL323
top = torch.cat(few).max()

# %% a small set: shown
print(top)

# %% gone before the next cell ends
with torch.no_grad():
    outputs = [lm(batch) for batch in texts]  # lint: XL323

# %% gone before this cell ends
accuracy = (torch.cat(outputs).argmax(-1) == gold).float().mean()
del outputs

# %% in a function
def evaluate(model, batches):
    with torch.no_grad():
        scores = [model(batch) for batch in batches]  # lint: XL323
    return torch.cat(scores).mean().item()

mean = evaluate(lm, texts)

# %% saved for later, one by one
with torch.no_grad():
    vectors = [lm(batch) for batch in texts]
spread = torch.cat(vectors).std()

# %% saved for later: looked at
print(vectors[0].shape)

# %% saved for later: gone
del vectors

# %% kept on the host, to be drawn
with torch.no_grad():
    embeddings = [lm(batch).cpu() for batch in texts]
middle = torch.cat(embeddings).mean(0)

# %% kept on the host: shown
print(middle.shape)

# %% kept on the host: gone
del embeddings

# %% batches of data, of which the mean is taken
data = [torch.rand(2048, 4096) for batch in range(9)]
middle = torch.stack(data).mean()

# %% batches of data: shown
print(middle)
