# %% gone at the start of the next iteration: the last graph stays
for batch in loader:
    optimizer.zero_grad()
    model(batch).mean().backward(create_graph=True)  # lint: XL205
    optimizer.step()

# %% in a loop, by the function of the module
from torch import autograd

for batch in range(100):
    energy = field(batch)
    autograd.backward(energy, create_graph=True)  # lint: XL205

# %% by position, and the gradients only become zeros
def step(model, rays):
    model(rays).sum().backward(None, True, True)  # lint: XL205
    optimizer.zero_grad(set_to_none=False)
