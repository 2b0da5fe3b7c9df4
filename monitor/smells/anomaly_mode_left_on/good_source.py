# %% by a flag
import torch

if arguments.debug:
    torch.autograd.set_detect_anomaly(True)
torch.autograd.set_detect_anomaly(arguments.debug)
model(batch).mean().backward()

# %% around one batch
with torch.autograd.detect_anomaly():
    model(batch).mean().backward()

# %% a stop when something is wrong
for batch in loader:
    loss = model(batch).mean()
    if torch.isnan(loss):
        breakpoint()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
