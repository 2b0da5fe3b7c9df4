# %% numbers, made by a function
import torch
from torch import nn
import torch.nn.functional as F

net, measure = nn.Linear(4, 1), nn.MSELoss()

def step(x, y):
    loss = measure(net(x), y)
    loss.backward()
    return loss.item()

losses = []
for x, y in loader:
    losses.append(step(x, y))

# %% losses of several tasks, summed for one backward pass
for x, targets in loader:
    parts = []
    for target in targets:
        parts.append(measure(net(x), target))
    total = sum(parts) / len(parts)
    total.backward()

# %% log probabilities of an episode, led back at its end
saved = []
for episode in range(1_000):
    for state in play():
        saved.append(net(state).log_softmax(-1).sum())
    returns = [-chance * gain for chance, gain in zip(saved, gains)]
    torch.cat(returns).sum().backward()
    del saved[:]

# %% under no_grad, in a method that Lightning calls
class Lit(lightning.LightningModule):
    def __init__(self):
        self.net, self.losses = nn.Linear(4, 1), []

    def validation_step(self, batch, index):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.losses.append(loss)
        return loss

# %% written over in each iteration
state = {}
for x, y in loader:
    loss = measure(net(x), y)
    loss.backward()
    state["loss"] = loss
    meter.update(loss=loss)
    print(f"{loss:.3f}")

# %% a window of the last
from collections import deque

window = deque(maxlen=20)
for x, y in loader:
    loss = measure(net(x), y)
    loss.backward()
    window.append(loss.detach())

# %% a list that a caller of the function may lead back
def losses_of(batches):
    found = []
    for x, y in batches:
        found.append(measure(net(x), y))
    return found

# %% what an accelerator gathers of an evaluation
for x, y in loader:
    loss = measure(net(x), y)
    accelerator.backward(loss)
found, wanted = [], []
for x, y in checks:
    with torch.no_grad():
        scores = net(x)
    found.append(accelerator.gather(scores.argmax(-1)))
    wanted.append(accelerator.gather(y))
