# /// truth
# question = "asked"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum, 2020: the dataset deleted after random_split; both subsets are read later, so they must keep it"
# ///
# %%
import torch
from torch.utils.data import DataLoader, TensorDataset, random_split

full = TensorDataset(torch.randn(4000, 1, 64, 32), torch.arange(4000) % 8)
fit, dev = random_split(full, [0.8, 0.2], torch.Generator().manual_seed(0))
# %%
del full
# %%
mu = torch.stack([x.mean() for x, _ in DataLoader(fit, 400)]).mean()
# %%
dev_score = sum(((x - mu).abs().mean(dim=(1, 2, 3)) < 1).float().sum().item() for x, _ in DataLoader(dev, 400)) / len(dev)
print(len(fit), len(dev), mu.item(), dev_score)
