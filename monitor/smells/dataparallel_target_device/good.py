# needs: two gpus
# %% both moved
import torch
from torch import nn

torch.set_num_threads(1)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
ce = nn.CrossEntropyLoss()
photos = [(torch.rand(4, 8), torch.randint(2, (4,))) for number in range(2)]

multi = nn.DataParallel(nn.Linear(8, 2)).to(device)
for image, label in photos:
    error = ce(multi(image.to(device)), label.to(device))

# %% moved before
net = nn.Linear(8, 2)
net = net.to(device)
wrapped = nn.DataParallel(net)

# %% moved behind, through its name
later = nn.DataParallel(nn.Linear(8, 2))
later.to(device)

# %% moved at the beginning of the iteration
for image, label in photos:
    image, label = image.to(device), label.to(device)
    error = ce(multi(image), label)

# %% one device, no DataParallel
single = nn.Linear(8, 2).to(device)
for image, label in photos:
    error = ce(single(image.to(device)).cpu(), label)

# %% by whoever called
def spread(model):
    return nn.DataParallel(model)

# %% moved by a function
def placed(model):
    return model.to(device)

class Trainer:
    def __init__(self):
        self.model = placed(nn.Linear(8, 2))
        self.model = nn.DataParallel(self.model)
        self.count = sum(weight.numel() for weight in self.model.parameters())

trainer = Trainer()

# %% moved by the function that trains
def fit(model):
    model.to(device)
    return model(torch.rand(4, 8).to(device))

many = nn.DataParallel(nn.Linear(8, 2))
out = fit(many)

# %% the loss is computed inside, and one number comes back from each
class WithLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 1024)

    def forward(self, rows):
        return self.layer(rows).square().mean().reshape(1)

whole = nn.DataParallel(WithLoss().to(device))
whole(torch.rand(1 << 14, 16).to(device)).mean().backward()

# %% a part of what is moved behind
parts = nn.Module()
parts.features = nn.Linear(8, 2)
parts.features = nn.DataParallel(parts.features)
parts.to(device)

# %% a part of an object that is moved
class Split(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.DataParallel(nn.Linear(8, 2))

halves = Split()
halves.to(device)
