# %% a loader by name
import torch.utils.data as data

loader = data.DataLoader(list_of_rows, 32, num_workers=8, persistent_workers=True)
batches = iter(loader)  # lint: XL321
first = next(batches)
