# %% around a whole training loop
import torch
from torch import autograd

with autograd.detect_anomaly(check_nan=False):  # lint: XL211
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()

# %% a stop in each step
for batch in loader:
    loss = model(batch).mean()
    breakpoint()  # lint: XL211
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

# %% in the function that starts it all
def main():
    autograd.set_detect_anomaly(mode=True)  # lint: XL211
    trainer.fit(model)
