# %% the output of a model, with its graph
import torch

net = torch.nn.Linear(4, 2)
net(torch.rand(3, 4))  # lint: XL401

# %% a slice of a table, by another name
import pandas as pd

table = pd.read_csv("night.csv")
table[["flux", "error"]]  # lint: XL401

# %% the values below it
table.values  # lint: XL401
