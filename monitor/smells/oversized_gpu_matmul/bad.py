# needs: gpu
# %% a gibibyte of the device is all that torch may have
import torch

free, total = torch.cuda.mem_get_info()
torch.cuda.set_per_process_memory_fraction((1 << 30) / total)

def table(rows, columns):
    return torch.rand(rows, columns, device="cuda")

# %% with its own transpose, kept by a name  # expect: XL602
songs = table(9_000, 64)
alike = songs @ songs.T

# %% gone
del alike
torch.cuda.empty_cache()

# %% by a method, and only a part of it is kept  # expect: XL602
users = table(8_500, 32)
items = table(9_500, 32)
best = users.mm(items.t()).argmax(1)

# %% the next cell is small
marks = torch.zeros(1_000, device="cuda")
marks += 1

# %% by a function, in a loop  # expect: XL602
for scale in (1.0, 2.0):
    far = torch.cdist(users * scale, items)

# %% all gone
del far
torch.cuda.empty_cache()

# %% of factors without a name  # expect: XL602
product = torch.matmul(table(9_000, 16), table(16, 9_000))
