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

# %% another rate in each turn
for rate in [0.1 / (turn + 1) for turn in range(10)]:
    model = nn.Linear(8, 3)
    descent = torch.optim.SGD(model.parameters(), lr=rate)
    for sound, text in speech:
        descent.zero_grad()
        nn.functional.mse_loss(model(sound), text).backward()
        descent.step()

# %% an image of each turn is what is learned
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
