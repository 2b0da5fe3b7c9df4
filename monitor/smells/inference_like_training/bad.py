# %% weights from a file, answers in a loop
import os
import tempfile

import torch
import torch.nn as nn

path = os.path.join(tempfile.mkdtemp(), "weights.pt")
torch.save(nn.Linear(6, 3).state_dict(), path)
net = nn.Linear(6, 3)
net.load_state_dict(torch.load(path))
names = []
for tile in torch.rand(5, 6):
    logits = net(tile)  # lint: XL202
    names.append(logits.argmax().item())

# %% in a function that a comprehension calls
classifier = nn.Sequential(nn.Linear(6, 3))
classifier[0].load_state_dict(torch.load(path))
classifier.load_state_dict(classifier.state_dict())

def name_of(tile):
    return classifier(tile).argmax().item()  # lint: XL202

names = [name_of(tile) for tile in torch.rand(5, 6)]

# %% in a class
class Service:
    def __init__(self):
        self.model = nn.Linear(6, 3)
        self.model.load_state_dict(torch.load(path))

    def run(self, tiles):
        answers = []
        for tile in tiles:
            answers.append(self.model(tile).max().item())  # lint: XL202
        return answers

answers = Service().run(torch.rand(5, 6))
