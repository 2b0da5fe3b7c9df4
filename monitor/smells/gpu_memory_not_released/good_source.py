# %% in a function
import torch

device = torch.device("cuda")
net = torch.nn.Linear(4, 2).to(device)

def read_all(scans):
    for page in scans:
        page = page.to(device)
        yield decode(net(page))

# %% deleted
for picture in pictures:
    there = picture.to(device)
    found.append(net(there).argmax(1).tolist())
del there

# %% deleted in each iteration
for picture in pictures:
    try:
        shown = picture.to(device)
        found.append(net(shown).argmax(1).tolist())
        del shown
    except RuntimeError:
        del shown

# %% used again
for picture in pictures:
    last = picture.to(device)
    found.append(net(last).argmax(1).tolist())

# %% used here
print(last.shape)

# %% on the host
for picture in pictures:
    flat = picture.flatten()
    found.append(flat.sum().item())
