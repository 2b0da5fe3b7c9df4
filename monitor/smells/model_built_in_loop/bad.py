# %% encoder, decoder and optimizer in the loop over batches
import torch
import torch.nn as nn
from torch import optim

class Decoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, 3)

    def forward(self, x):
        return self.layer(x)

speech = [(torch.rand(4, 8), torch.rand(4, 3)) for number in range(10)]
for sound, text in speech:
    encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU())  # lint: XL306
    decoder = Decoder(16)  # lint: XL306
    optimizer = optim.AdamW([*encoder.parameters(), *decoder.parameters()])  # lint: XL306
    optimizer.zero_grad()
    nn.functional.mse_loss(decoder(encoder(sound)), text).backward()
    optimizer.step()

# %% an optimizer for each batch, in a function
def train(model, batches):
    for sound, text in batches:
        adam = torch.optim.Adam(model.parameters(), lr=1e-3)  # lint: XL306
        adam.zero_grad()
        nn.functional.mse_loss(model(sound), text).backward()
        adam.step()

train(nn.Linear(8, 3), speech)

# %% until it is good enough
error, turn = 1.0, 0
while error > 0.01 and turn < 10:
    model = Decoder(8).to("cpu")  # lint: XL306
    descent = torch.optim.SGD(model.parameters(), lr=0.1)  # lint: XL306
    loss = nn.functional.mse_loss(model(speech[0][0]), speech[0][1])
    descent.zero_grad()
    loss.backward()
    descent.step()
    error, turn = loss.item(), turn + 1

# %% the optimizers of the iterations, in a list  # expect: XL306
optimizers = []
for sound, text in speech:
    encoder = nn.Sequential(nn.Linear(8, 9000), nn.Linear(9000, 3))  # lint: XL306
    optimizer = optim.AdamW(encoder.parameters())  # lint: XL306
    nn.functional.mse_loss(encoder(sound), text).backward()
    optimizer.step()
    optimizer.zero_grad()
    optimizers.append(optimizer)

# %% what each iteration came to, beside other things
class Run:
    def __init__(self, rate):
        self.model = nn.Linear(400, 400)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=rate)

    def fit(self):
        self.optimizer.zero_grad()
        loss = self.model(torch.rand(2, 400)).square().mean()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item(), "optimizer": self.optimizer}

# %% of a search  # expect: XL306
results = []
for trial in range(5):
    results.append(Run(1e-3 / (trial + 1)).fit())

# %% one model, and a scheduler in each epoch  # expect: XL306
lasting = nn.Linear(400, 400)
schedules = {}
for epoch in range(12):
    adam = optim.Adam(lasting.parameters(), lr=1e-3)  # lint: XL306
    schedules[epoch] = optim.lr_scheduler.StepLR(adam, 3)
    adam.zero_grad()
    lasting(torch.rand(2, 400)).square().mean().backward()
    adam.step()
