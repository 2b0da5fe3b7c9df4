# %% a list of all outputs
import torch
import torch.nn as nn

device = "cpu"
lm = nn.Linear(6, 3).to(device)
texts = [torch.rand(4, 6) for batch in range(10)]
gold = torch.zeros(40, dtype=torch.long)
with torch.no_grad():
    outputs = [lm(batch.to(device)) for batch in texts]  # lint: XL323
accuracy = (torch.cat(outputs).argmax(-1) == gold).float().mean()

# %% appended in a function
@torch.inference_mode()
def evaluate(model, batches):
    scores = []
    for batch in batches:
        logits = model(batch)
        scores.append(logits)  # lint: XL323
    joined = torch.cat(scores, dim=0)
    return joined.max().item(), joined.mean().item()

best, mean = evaluate(lm, texts)

# %% without a word of a device
head = nn.Linear(6, 2)
parts = []
with torch.no_grad():
    for batch in texts:
        parts.append(head(batch))  # lint: XL323
total = torch.stack(parts).sum()
