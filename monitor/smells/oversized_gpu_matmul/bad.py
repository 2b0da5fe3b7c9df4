# %% large on the device, if there is one
import torch

def alike():
    songs = torch.rand(60_000, 8, device="cuda")
    return songs @ songs.T  # lint: XL602

if torch.cuda.is_available():
    nearest = alike().topk(10).indices
