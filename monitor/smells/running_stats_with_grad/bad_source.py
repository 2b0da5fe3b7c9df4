# %% in place, in two calls
import torch
from torch import nn

class Centred(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("centre", torch.zeros(width))

    def forward(self, x):
        batch_centre = x.mean(0)
        self.centre.mul_(0.9).add_(0.1 * batch_centre)  # lint: XL207
        return x - self.centre

# %% augmented, by the name alone
class Scaled(torch.nn.Module):
    def forward(self, x):
        features = self.encode(x)
        self.running_std += 0.1 * (features.std() - self.running_std)  # lint: XL207
        return features / self.running_std

# %% under a condition
class Prototypes(Centred):
    def forward(self, x, labels):
        if self.training:
            self.centre = torch.lerp(self.centre, x.mean(0), 0.1)  # lint: XL207
        return torch.cdist(x, self.centre)
