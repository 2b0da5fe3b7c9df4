# %% deleted before the next
from transformers import AutoModelForCausalLM as Causal

for rate in (1e-3, 3e-4, 1e-4):
    model = Causal.from_pretrained("large").to("cuda")
    train(model, rate)
    del model

# %% loaded once
model = Causal.from_pretrained("large")
for rate in (1e-3, 3e-4, 1e-4):
    train(model, rate)

# %% only what the runs are compared by
import torch

runs = {}
for rate in rates:
    net = torch.nn.Linear(4, 2)
    tuner = torch.optim.Adam(net.parameters(), rate)
    runs[rate] = fit(net, tuner)

# %% set to None
for path in paths:
    table = torch.load(path)
    print(len(table))
    table = None
