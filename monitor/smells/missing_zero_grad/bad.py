# %% no reset at all  # expect: XL204
import torch
from torch import nn, optim

assays = [(torch.rand(4, 6), torch.rand(4, 1)) for batch in range(5)]
classifier = nn.Linear(6, 1)
adam = optim.Adam(classifier.parameters())
for epoch in range(3):
    for gene, label in assays:
        error = nn.functional.mse_loss(classifier(gene), label)
        error.backward()
        adam.step()  # lint: XL204

# %% one reset before the loop  # expect: XL204
import torch.optim as optimizers

ranker = nn.Linear(6, 1)
descent = optimizers.SGD(ranker.parameters(), lr=0.01)
descent.zero_grad()
step = 0
while step < 10:
    gene, label = assays[step % 5]
    (ranker(gene) - label).square().mean().backward()
    descent.step()  # lint: XL204
    step += 1

# %% a function for one batch
def learn(model, optimizer, batch):
    inputs, targets = batch
    loss = (model(inputs) - targets).abs().mean()
    loss.backward()
    optimizer.step()  # lint: XL204
    return loss.item()

# %% that is called for each  # expect: XL204
scorer = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 1))
momentum = optim.SGD(scorer.parameters(), lr=0.01, momentum=0.9)
curve = []
for batch in assays:
    curve.append(learn(scorer, momentum, batch))

# %% a class, with a scaler  # expect: XL204
class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters())
        self.scaler = torch.amp.GradScaler(enabled=False)

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            for inputs, targets in batches:
                loss = (self.model(inputs) - targets).square().mean()
                self.scaler.scale(loss).backward()
                self.scaler.step(self.optimizer)  # lint: XL204
                self.scaler.update()

trainer = Trainer(nn.Linear(6, 1))
trainer.fit(assays, 2)
