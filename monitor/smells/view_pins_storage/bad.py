# %% corners of tensors in a list: cut
import torch

corners = []
for number in range(8):
    corners.append(torch.rand(400, 500)[:6, :6])

# %% corners of tensors in a list: still there  # expect: XL118
count = len(corners)

# %% rows of arrays in a dictionary: cut
import numpy as np

first_rows = {}
for name in ("a", "b", "c"):
    first_rows[name] = np.ones((300, 700))[0]

# %% rows of arrays in a dictionary: still there  # expect: XL118
names = sorted(first_rows)

# %% the head of one large tensor, by name: cut
head = torch.rand(16_000, 300).detach()[:4]

# %% the head of one large tensor, by name: still there  # expect: XL118
shape = head.shape

# %% a column beside other values, through numpy: cut
scores = {"column": torch.rand(24_000, 200)[:, 7].numpy(), "seed": 3}

# %% a column beside other values, through numpy: still there  # expect: XL118
seed = scores["seed"]

# %% all but the last, which has a name: cut
tops = []
for number in range(8):
    page = torch.rand(400, 500)
    tops.append(page[:2])

# %% all but the last, which has a name: still there  # expect: XL118
count = len(tops)
