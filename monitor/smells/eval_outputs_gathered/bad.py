# %% a head with many classes
import torch
import torch.nn as nn

lm = nn.Linear(6, 4096)
texts = [torch.rand(2048, 6) for batch in range(9)]
gold = torch.zeros(9 * 2048, dtype=torch.long)

# %% a list of all outputs
with torch.no_grad():
    outputs = [lm(batch) for batch in texts]  # lint: XL323
accuracy = (torch.cat(outputs).argmax(-1) == gold).float().mean()

# %% a list of all outputs: shown  # expect: XL323
print(accuracy)

# %% appended, and joined in another cell
logits = []
for batch in texts:
    with torch.inference_mode():
        out = lm(batch)
        logits.append(out)  # lint: XL323

# %% appended, and joined in another cell: joined  # expect: XL323
joined = torch.cat(logits, dim=0)
best, mean = joined.max().item(), joined.mean().item()
del joined

# %% handed back by a function
@torch.no_grad()
def predict(model, batches):
    found = []
    for batch in batches:
        found.append(model(batch))
    return found

# %% handed back by a function: called
scores = predict(lm, texts)
print(len(scores))

# %% handed back by a function: reduced  # expect: XL323
spread = torch.std(torch.stack(scores))
