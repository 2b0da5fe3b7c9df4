# %% a loop over batches, in the mode of evaluation
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

scans = DataLoader(TensorDataset(torch.rand(32, 8), torch.randint(0, 3, (32,))), batch_size=8)
segnet = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
segnet.eval()
hits = 0
for scan, mask in scans:
    guess = segnet(scan)  # lint: XL201
    hits += (guess.argmax(1) == mask).sum().item()

# %% a function that is given the model
def validate(model, loader):
    model.eval()
    errors = 0.0
    for inputs, labels in loader:
        outputs = model(inputs)  # lint: XL201
        errors += nn.functional.cross_entropy(outputs, labels).item()
    return errors / len(loader)

error = validate(segnet, scans)

# %% a class, the forward pass in a method of its own
class Trainer:
    def __init__(self, net):
        self.net = net

    def logits(self, batch):
        return self.net(batch[0])

    def accuracy(self, batches):
        self.net.train(False)
        right = 0
        for batch in batches:
            scores = self.logits(batch)  # lint: XL201
            right += (scores.argmax(1) == batch[1]).sum().item()
        return right

right = Trainer(segnet).accuracy(scans)

# %% between two epochs of training
optimizer = torch.optim.SGD(segnet.parameters(), lr=0.01)
for epoch in range(2):
    segnet.train()
    for scan, mask in scans:
        optimizer.zero_grad()
        nn.functional.cross_entropy(segnet(scan), mask).backward()
        optimizer.step()
    segnet.eval()
    for scan, mask in scans:
        print(segnet(scan).argmax(1).eq(mask).float().mean().item())  # lint: XL201

# %% the mode in one cell
judge = nn.Linear(8, 3)
judge.eval();

# %% the forward passes in another, as a list
best = [judge(scan).max().item() for scan, _ in scans]  # lint: XL201

# %% training and validation in one function, by the same names
def fit(model, train_loader, valid_loader):
    model.train()
    for scan, mask in train_loader:
        optimizer.zero_grad()
        scores = model(scan)
        loss = nn.functional.cross_entropy(scores, mask)
        loss.backward()
        optimizer.step()
    model.eval()
    losses = []
    for scan, mask in valid_loader:
        scores = model(scan)  # lint: XL201
        loss = nn.functional.cross_entropy(scores, mask)
        losses.append(loss.item())
    return losses

curve = fit(segnet, scans, scans)

# %% a wide network, its last guess kept
wide = nn.Sequential(nn.Linear(8, 2048), nn.ReLU(), nn.Linear(2048, 3))
wide.eval()
for scan in torch.rand(4, 256, 8):
    answer = wide(scan)

# %% for nothing but its shape  # expect: XL201
print(answer.shape)

# %% a result object, with more that was made of one pass
class Report:
    pass

report = Report()

def judged(model, inputs, labels):
    model.eval()
    scores = model(inputs)  # lint: XL201
    return scores, nn.functional.cross_entropy(scores, labels)

both = judged(wide, torch.rand(256, 8), torch.randint(0, 3, (256,)))
report.scores = both[0]

# %% after which something else runs  # expect: XL201
words = "nothing to do with it".split()

# %% trained first
learner = nn.Sequential(nn.Linear(8, 2048), nn.Tanh(), nn.Linear(2048, 1))
steps = torch.optim.SGD(learner.parameters(), lr=0.01)
for turn in range(3):
    steps.zero_grad()
    learner(torch.rand(64, 8)).mean().backward()
    steps.step()

# %% then asked, for a validation loss
learner.eval()
inputs = torch.rand(512, 8)
validation = (learner(inputs) - 0.5).pow(2).mean()  # lint: XL201

# %% and trained again  # expect: XL201
learner.train()
steps.zero_grad()
learner(torch.rand(64, 8)).mean().backward()
steps.step()
