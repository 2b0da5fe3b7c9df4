# %% loaded again in each iteration
from transformers import AutoModelForCausalLM as Causal

for rate in (1e-3, 3e-4, 1e-4):
    model = Causal.from_pretrained("large").to("cuda")  # lint: XL411
    train(model, rate)

# %% the optimizers are kept
import torch

runs = {}
for rate in rates:
    net = torch.nn.Linear(4, 2)
    tuner = torch.optim.Adam(net.parameters(), rate)
    runs[rate] = (fit(net, tuner), tuner)  # lint: XL411

# %% in a function, a checkpoint in each iteration
def compare(paths):
    for path in paths:
        state = torch.load(path)  # lint: XL411
        print(path, len(state))
