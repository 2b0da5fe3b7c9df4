# %% a few rows
import pandas as pd

table = pd.read_csv("night.csv")
table.head()

# %% a size
table.shape

# %% not shown
table;

# %% printed
print(table)

# %% one number
import torch

losses = torch.zeros(500)
losses[0]

# %% a figure
import matplotlib.pyplot as plt

plt.show()
