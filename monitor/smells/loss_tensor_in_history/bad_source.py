# %% a curve in a dictionary
import torch
import torch.nn.functional as F

tagger = torch.nn.Linear(8, 3)
curve = {"train": [], "valid": []}

# %% filled in a later cell, without a backward pass
for sentence, target in valid_batches:
    score = F.cross_entropy(tagger(sentence), target)
    curve["valid"].append(score)  # lint: XL102

# %% in a function for one epoch, after the backward pass
def train(model, loader, criterion, optimizer):
    losses = []
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss)  # lint: XL102
    return sum(losses) / len(losses)

# %% in the method of a trainer, by the output of a model of others
from transformers import AutoModelForSequenceClassification as Classifier

class Trainer:
    def __init__(self):
        self.model = Classifier.from_pretrained("small")
        self.history = []

    def fit(self, loader):
        for batch in loader:
            outputs = self.model(**batch)
            self.history.append((outputs.loss, batch["length"]))  # lint: XL102

# %% again for each epoch
from torch import nn

net, measure = nn.Linear(4, 1), nn.MSELoss()
for epoch in range(20):
    errors = []
    for x, y in loader:
        error = measure(net(x), y)
        error.backward()
        errors += [error]  # lint: XL102

# %% in a comprehension
penalties = [net(x).square().mean() for x in samples]  # lint: XL102

# %% led back by somebody else
seen = []
for x, y in loader:
    error = compared(x, y)
    engine.backward(error)
    seen.append(error)  # lint: XL102
