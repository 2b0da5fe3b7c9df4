# %% over the host and back
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
stem = nn.Linear(8, 8).to(device)
tail = nn.Linear(8, 2).to(device)
clips = [torch.rand(4, 8) for number in range(3)]

for clip in clips:
    g = stem(clip.to(device)).detach()
    g = torch.from_numpy(np.flip(g.cpu().numpy(), 1).copy()).to(device)  # lint: XL605
    out = tail(g)

# %% step by step, in a function
def refine(batches, dev):
    for batch in batches:
        coarse = stem(batch.to(dev)).detach()
        host = coarse.cpu().numpy()
        host = np.clip(host, 0.0, 1.0)
        fine = torch.tensor(host)
        yield tail(fine.to(dev))  # lint: XL605

outs = list(refine(clips, device))

# %% what does not change
class Learner:
    def __init__(self, model):
        self.model = model
        self.weights = torch.tensor([0.3, 0.7])

    def losses(self, batches):
        for batch in batches:
            self.model.to(device)  # lint: XL605
            scores = self.model(batch.to(device))
            yield (scores * self.weights.to(device)).sum()  # lint: XL605

values = [loss.item() for loss in Learner(nn.Linear(8, 2)).losses(clips)]
