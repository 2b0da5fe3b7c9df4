# /// truth
# question = "asked"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum, 2020: random_split returns subsets which keep the full dataset, deleting it and the training part does not help"
# leaked = "4 * 9000 * 3 * 24 * 24 + 8 * 9000"
# cause_cell = 1
# cause_line = "torch.randn(9000, 3, 24, 24)"
# holder = ["val", "val.dataset", "Subset"]
# repair = "val = [(x.clone(), y.clone()) for x, y in val]"
# ///
# %%
import torch
from torch.utils.data import TensorDataset, random_split

g = torch.Generator().manual_seed(3)
full = TensorDataset(torch.randn(9000, 3, 24, 24), torch.randint(0, 10, (9000,)))
train, val = random_split(full, [8900, 100], generator=g)
# %%
del full, train
# %%
xs, ys = zip(*[val[i] for i in range(8)])
xs, ys = torch.stack(xs), torch.stack(ys)
