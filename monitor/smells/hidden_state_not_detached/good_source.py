# %% a function that cuts
import torch
import torch.nn as nn

def repackage(state):
    return tuple(part.detach() for part in state)

rnn = nn.LSTM(8, 8)
state = start
for batch in loader:
    state = repackage(state)
    out, state = rnn(batch, state)
    out.mean().backward()

# %% in place, part by part
for batch in loader:
    out, state = rnn(batch, state)
    out.mean().backward()
    for part in state:
        part.detach_()

# %% time steps within a batch
cell = nn.GRUCell(8, 8)
for batch in loader:
    h = torch.zeros(4, 8)
    for x in batch:
        h = cell(x, h)
    h.mean().backward()

# %% what is handed over is cut
for batch in loader:
    out, state = rnn(batch, (state[0].detach(), state[1].detach()))
    out.mean().backward()

# %% layers of a network, one after the other
class Deep(nn.Module):
    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return x

# %% generated without gradients
@torch.no_grad()
def sample(model, token, state, length):
    model.eval()
    for position in range(length):
        scores, state = model(token, state)
        token = scores.argmax(-1)
    return token
