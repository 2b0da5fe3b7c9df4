# %% a state that goes from batch to batch: left
import torch

rnn = torch.nn.GRU(32, 128)
state = None
for batch in range(6):
    _, state = rnn(torch.rand(20, 40, 32), state)  # lint: XL208

# %% a state that goes from batch to batch: still there  # expect: XL208
shape = state.shape

# %% the pair of an LSTM, and the output beside it: left
lstm = torch.nn.LSTM(32, 128, num_layers=2)
head = torch.nn.Linear(128, 5)
memory = None
for window in range(5):
    features, memory = lstm(torch.rand(20, 40, 32), memory)  # lint: XL208
    scores = head(features)

# %% the pair of an LSTM, and the output beside it: still there  # expect: XL208
sizes = [part.shape for part in memory]

# %% an attribute of a module: left
class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.LSTMCell(32, 256)
        self.hidden = None

    def forward(self, x):
        self.hidden = self.cell(x, self.hidden)  # lint: XL208
        return self.hidden[0]

reader = Reader()
for step in range(8):
    reader(torch.rand(300, 32))

# %% an attribute of a module: still there  # expect: XL208
width = reader.cell.hidden_size

# %% a cell written by hand, its state in a dictionary: left
mix, enter = torch.nn.Linear(256, 256), torch.nn.Linear(32, 256)
memories = {"slow": torch.zeros(200, 256)}
for batch in range(10):
    memories["slow"] = torch.tanh(mix(memories["slow"]) + enter(torch.rand(200, 32)))

# %% a cell written by hand, its state in a dictionary: still there  # expect: XL208
names = list(memories)
