# %% made once
import torch
import torch.nn as nn

speech = [(torch.rand(4, 8), torch.rand(4, 3)) for number in range(10)]
model = nn.Linear(8, 3)
adam = torch.optim.Adam(model.parameters())
for sound, text in speech:
    adam.zero_grad()
    nn.functional.mse_loss(model(sound), text).backward()
    adam.step()

# %% one model for each fold
for fold in range(10):
    model = nn.Linear(8, 3)
    adam = torch.optim.Adam(model.parameters())
    for sound, text in speech:
        adam.zero_grad()
        nn.functional.mse_loss(model(sound), text).backward()
        adam.step()

# %% an ensemble on purpose
ensemble = [nn.Linear(8, 3) for member in range(10)]

# %% another rate in each iteration
for rate in [0.1 / (turn + 1) for turn in range(10)]:
    model = nn.Linear(8, 3)
    descent = torch.optim.SGD(model.parameters(), lr=rate)
    for sound, text in speech:
        descent.zero_grad()
        nn.functional.mse_loss(model(sound), text).backward()
        descent.step()

# %% an image of each iteration is what is learned
for sound, text in speech:
    image = sound.clone().requires_grad_()
    descent = torch.optim.SGD([image], lr=0.1)
    nn.functional.mse_loss(model(image), text).backward()
    descent.step()
    descent.zero_grad()

# %% layers without weights
for sound, text in speech:
    squash = nn.Sigmoid()
    adam = None
    nn.functional.mse_loss(squash(model(sound)), text).backward()

# %% an ensemble, each member with its optimizer
members = [nn.Linear(400, 400) for member in range(4)]
optimizers = [torch.optim.Adam(member.parameters()) for member in members]
for member, optimizer in zip(members, optimizers):
    member(torch.rand(2, 400)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()

# %% runs that keep model and optimizer together
runs = {}
for width in (400, 401, 402):
    runs[width] = net = nn.Linear(width, width), None
    tuned = torch.optim.Adam(net[0].parameters())
    net[0](torch.rand(2, width)).square().mean().backward()
    tuned.step()
    tuned.zero_grad()
    runs[width] = net[0], tuned

# %% three optimizers for parts of one model
towers = nn.ModuleList(nn.Linear(400, 400) for part in range(3))
steps = [torch.optim.Adam(tower.parameters()) for tower in towers]
for tower, part in zip(towers, steps):
    tower(torch.rand(2, 400)).square().mean().backward()
    part.step()
    part.zero_grad()

# %% images that are learned, each by its optimizer
images = [torch.rand(400, 400, requires_grad=True) for number in range(4)]
painters = [torch.optim.Adam([image]) for image in images]
for image, painter in zip(images, painters):
    image.square().mean().backward()
    painter.step()
    painter.zero_grad()

# %% settings of a search, before any of them was run
drafts = [torch.optim.SGD(towers.parameters(), lr=rate) for rate in (0.1, 0.2, 0.3, 0.4)]
