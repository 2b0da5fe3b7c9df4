# %% numbers, values without a graph
import torch

net = torch.nn.Linear(20, 1)
loss_of = torch.nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), 0.1)

class Average:
    def __init__(self):
        self.sum = 0.0

    def update(self, value):
        self.sum += value

average, kept = Average(), Average()
for rows, goals in loader:
    loss = loss_of(net(rows), goals)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    average.update(loss.item())
    kept.update(loss.detach())

# %% under no_grad
class Validation:
    def __init__(self):
        self.sum = 0.0

    def update(self, value):
        self.sum += value

validation = Validation()
with torch.no_grad():
    for rows, goals in loader:
        validation.update(loss_of(net(rows), goals))

# %% led back by another method
class Joint:
    def __init__(self):
        self.loss = 0.0

    def add(self, loss):
        self.loss = self.loss + loss

    def step(self):
        self.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        self.loss = 0.0

joint = Joint()
for rows, goals in loader:
    joint.add(loss_of(net(rows), goals))
    joint.step()

# %% again in each iteration
class Shown:
    def __init__(self):
        self.sum = 0.0

    def add(self, loss):
        self.sum = self.sum + loss

for rows, goals in loader:
    shown = Shown()
    shown.add(loss_of(net(rows), goals))
    print(shown.sum)

# %% set back in each iteration
class Turn:
    def __init__(self):
        self.reset()

    def reset(self):
        self.sum = 0.0

    def add(self, loss):
        self.sum = self.sum + loss

turn = Turn()
for rows, goals in loader:
    turn.reset()
    turn.add(loss_of(net(rows), goals))
    print(turn.sum)

# %% parts of one loss
class Parts:
    def __init__(self):
        self.sum = 0.0

    def add(self, loss):
        self.sum = self.sum + loss

parts = Parts()
for power in (1, 2):
    parts.add(loss_of(net(torch.ones(4, 20)).pow(power), torch.zeros(4, 1)))

# %% words that an engine has seen
words = 0
for rows, goals in loader:
    engine = engines[0]
    engine.backward(loss_of(net(rows), goals))
    words += engine.rows_of_batch * workers
    print(words)

# %% parts of one loss, whose number has a name
heads = 4
for rows, goals in loader:
    whole = 0.0
    for head in range(heads):
        whole += loss_of(net(rows), goals)
    report(whole)
