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

# %% a wide network from a file, its last answer kept
wide = nn.Sequential(nn.Linear(6, 2048), nn.Sigmoid(), nn.Linear(2048, 3))
torch.save(wide.state_dict(), path)
wide.load_state_dict(torch.load(path))
for tiles in torch.rand(4, 256, 6):
    answer = wide(tiles)  # lint: XL202

# %% only its shape is read  # expect: XL202
print(answer.shape)

# %% a pair of one pass, in a comprehension's last iteration
def scored(model, tiles):
    logits = model(tiles)
    return logits, logits.softmax(-1)

pairs = {turn % 2: scored(wide, torch.rand(256, 6)) for turn in range(1)}

# %% after which something else runs  # expect: XL202
words = "nothing to do with it".split()

# %% one answer, for a note
single = wide(torch.rand(256, 6)).amax(1)  # lint: XL202

# %% read later  # expect: XL202
print(single.shape)
