# %% a reset in each iteration
import torch

assays = [(torch.rand(4, 6), torch.rand(4, 1)) for batch in range(5)]
classifier = torch.nn.Linear(6, 1)
adam = torch.optim.Adam(classifier.parameters())
for epoch in range(3):
    for gene, label in assays:
        adam.zero_grad()
        (classifier(gene) - label).square().mean().backward()
        adam.step()

# %% gradients of several batches
for number, (gene, label) in enumerate(assays):
    ((classifier(gene) - label).square().mean() / 2).backward()
    if (number + 1) % 2 == 0:
        adam.step()
        adam.zero_grad()

# %% a closure
lbfgs = torch.optim.LBFGS(classifier.parameters(), lr=0.1)
for gene, label in assays:
    def closure():
        lbfgs.zero_grad()
        loss = (classifier(gene) - label).square().mean()
        loss.backward()
        return loss

    lbfgs.step(closure)

# %% two optimizers, one reset by the model
first = torch.optim.SGD([classifier.weight], lr=0.1)
second = torch.optim.SGD([classifier.bias], lr=0.1)
for gene, label in assays:
    classifier.zero_grad()
    (classifier(gene) - label).abs().mean().backward()
    first.step()
    second.step()

# %% by hand
for gene, label in assays:
    (classifier(gene) - label).abs().mean().backward()
    adam.step()
    for weight in classifier.parameters():
        weight.grad = None

# %% the reset in a function
def update(optimizer, loss):
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()

for gene, label in assays:
    update(adam, (classifier(gene) - label).abs().mean())

# %% one step
(classifier(assays[0][0]) - assays[0][1]).abs().mean().backward()
adam.step()
