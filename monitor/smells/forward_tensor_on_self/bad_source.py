# %% by another name of the class
import torch
from torch.nn import Conv1d, Linear, Module

class Speech(Module):
    def __init__(self):
        super().__init__()
        self.conv, self.query = Conv1d(80, 64, 3), Linear(64, 1)

    def forward(self, mel):
        self.frames = self.conv(mel)  # lint: XL103
        self.weights = torch.softmax(self.query(self.frames.mT), 1)  # lint: XL103
        return (self.weights * self.frames.mT).sum(1)

# %% in a class of a class of the program
class Deep(Speech):
    def step(self, mel):
        self.latest = mel  # lint: XL103
        return self.conv(mel)

    def forward(self, mel):
        return self.step(mel)

# %% a list that Lightning fills in each step
import pytorch_lightning as pl

class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Linear(4, 2)
        self.scores = []

    def training_step(self, batch, index):
        x, y = batch
        score = self.net(x)
        self.scores.append(score)  # lint: XL103
        return (score - y).square().mean()
