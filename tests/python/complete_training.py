# %%
# mypy: ignore-errors
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# %%
turbines = torch.randn(960, 64)
output = turbines @ torch.randn(64, 1)
training = DataLoader(
    TensorDataset(turbines[:768], output[:768]), 48, shuffle=True, pin_memory=device.type == "cuda"
)
held_out = DataLoader(TensorDataset(turbines[768:], output[768:]), 96)


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = nn.GRU(8, 96, batch_first=True)
        self.head = nn.Linear(96, 1)

    def forward(self, readings, state=None):
        seen, state = self.gates(readings.view(len(readings), 8, 8), state)
        return self.head(seen[:, -1]), state


forecast = Forecast().to(device)
distance = nn.MSELoss()
optimizer = torch.optim.AdamW(forecast.parameters(), lr=3e-3)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
folder = TemporaryDirectory()
history = {"train": [], "held out": []}


# %%
def train_epoch():
    forecast.train()
    total = 0.0
    for readings, wanted in training:
        readings, wanted = readings.to(device), wanted.to(device)
        optimizer.zero_grad(set_to_none=True)
        guess, _ = forecast(readings)
        loss = distance(guess, wanted)
        loss.backward()
        nn.utils.clip_grad_norm_(forecast.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(readings)
    return total / len(training.dataset)


@torch.no_grad()
def evaluate():
    forecast.eval()
    total = 0.0
    for readings, wanted in held_out:
        guess, _ = forecast(readings.to(device))
        total += distance(guess, wanted.to(device)).item() * len(readings)
    return total / len(held_out.dataset)


# %%
for epoch in range(4):
    history["train"].append(train_epoch())
    history["held out"].append(evaluate())
    schedule.step()
    torch.save(
        {"model": forecast.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch},
        Path(folder.name) / "last.pt",
    )

# %%
# A streamed state that is cut from its graph after each chunk.
state = None
for chunk in turbines[:480].split(48):
    optimizer.zero_grad(set_to_none=True)
    guess, state = forecast(chunk.to(device), state)
    distance(guess, output[:48].to(device)).backward()
    optimizer.step()
    state = state.detach()

# %%
saved = torch.load(Path(folder.name) / "last.pt", map_location=device)
forecast.load_state_dict(saved["model"])
optimizer.load_state_dict(saved["optimizer"])
del saved
for _ in range(2):
    history["train"].append(train_epoch())
    history["held out"].append(evaluate())
assert history["train"][-1] < history["train"][0]

# %%
folder.cleanup()
