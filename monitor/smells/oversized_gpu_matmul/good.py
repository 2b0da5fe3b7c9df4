# needs: gpu
# %% part by part
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"

def nearest(songs):
    return torch.cat([(part @ songs.T).topk(10).indices.cpu() for part in songs.split(2_000)])

rows = nearest(torch.rand(4_000, 8, device=device))

# %% tall and slim
tall = torch.rand(60_000, 8, device=device)
small = tall.T @ tall

# %% whatever the data have
def attention(queries, keys):
    return queries @ keys.transpose(-2, -1)

weights = attention(torch.rand(2, 8, 16, 4), torch.rand(2, 8, 16, 4))

# %% on the host
def on_host():
    songs = torch.rand(60_000, 8)
    return songs @ songs.T

# %% part by part, at the top level
songs = torch.rand(9_000, 8, device=device)
rows = []
for part in songs.split(500):
    scores = part @ songs.T
    rows.append(scores.topk(3).indices.cpu())

# %% a large table that is no product
table = torch.zeros(64, 1024, 1024, device=device) if device == "cuda" else None
