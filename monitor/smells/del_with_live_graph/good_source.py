# %% the value alone
import torch

decoder = torch.nn.Linear(4, 4)
logits = decoder(batch)
score = logits.softmax(-1).sum().item()
del logits
print(score)

# %% led back before
hidden = decoder(batch)
loss = hidden.square().mean()
loss.backward()
del hidden
print(loss.item())

# %% deleted together
hidden = decoder(batch)
total = hidden.exp().sum()
del hidden, total

# %% without a graph
with torch.no_grad():
    hidden = decoder(batch)
    level = hidden.exp().sum()
del hidden
print(level)

# %% at the end of an iteration
for batch in loader:
    hidden = decoder(batch)
    level = hidden.exp().sum()
    del hidden
    show(level)
