# %% cut between two batches
import torch

lstm = torch.nn.LSTM(32, 128)
state = None
for batch in range(6):
    if state is not None:
        state = tuple(part.detach() for part in state)
    output, state = lstm(torch.rand(20, 40, 32), state)

# %% cut in place
gru = torch.nn.GRU(32, 128)
hidden = torch.zeros(1, 40, 128)
for batch in range(6):
    hidden.detach_()
    output, hidden = gru(torch.rand(20, 40, 32), hidden)

# %% without a graph
with torch.no_grad():
    text = None
    for step in range(50):
        _, text = gru(torch.rand(20, 40, 32), text)

# %% the time steps of one sequence, led back in the same cell
cell = torch.nn.GRUCell(32, 256)
h = None
for x in torch.rand(20, 100, 32):
    h = cell(x, h)
h.square().mean().backward()

# %% the time steps of one sequence: walked
h = None
for x in torch.rand(20, 100, 32):
    h = cell(x, h)

# %% the time steps of one sequence: led back
h.square().mean().backward()

# %% one sequence after the other, each led back in a cell of its own: walked
h = None
for x in torch.rand(20, 100, 32):
    h = cell(x, h)

# %% one sequence after the other, each led back in a cell of its own: the next
h.square().mean().backward()
h = None
for x in torch.rand(20, 100, 32):
    h = cell(x, h)

# %% one sequence after the other, each led back in a cell of its own: the last
h.square().mean().backward()

# %% one long sequence of a recurrent network
whole, last = gru(torch.rand(200, 40, 32))

# %% a network that uses its layers again
class Shared(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Linear(32, 256)
        self.block = torch.nn.Linear(256, 256)

    def forward(self, x):
        x = self.embed(x)
        for turn in range(12):
            x = torch.relu(self.block(x))
        return x

deep = Shared()(torch.rand(200, 32))

# %% the end
count = len(whole)
