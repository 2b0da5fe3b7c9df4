# %% nothing updates the scale
import torch.cuda.amp as mixed

class Trainer:
    def __init__(self, model):
        self.model = model
        self.tuner = torch.optim.AdamW(model.parameters())
        self.scaler = mixed.GradScaler()

    def fit(self, loader):
        for batch in loader:
            self.tuner.zero_grad()
            with mixed.autocast():
                loss = self.model(batch).loss
            self.scaler.scale(loss).backward()
            self.scaler.step(self.tuner)  # lint: XL607

# %% clipped while scaled
import torch
from torch import amp
from torch.nn.utils import clip_grad_norm_

keeper = amp.GradScaler()
for batch in loader:
    with amp.autocast("cuda"):
        loss = model(batch)
    keeper.scale(loss).backward()
    clip_grad_norm_(model.parameters(), 1.0)  # lint: XL607
    keeper.step(optimizer)
    keeper.update()
