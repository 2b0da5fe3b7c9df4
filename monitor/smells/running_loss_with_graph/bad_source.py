# %% an average that a method keeps
import torch

net = torch.nn.Linear(20, 1)
loss_of = torch.nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), 0.1)

class Average:
    def __init__(self):
        self.reset()

    def reset(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, count):
        self.sum += value * count  # lint: XL203
        self.count += count

average = Average()
for rows, goals in loader:
    loss = loss_of(net(rows), goals)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    average.update(loss, len(rows))

# %% a sum of the module that a function adds to
total = 0.0

def count_in(penalty):
    global total
    total = total + penalty  # lint: XL203

for rows, goals in loader:
    count_in(torch.nn.functional.l1_loss(net(rows), goals))

# %% a model that a constructor is given
class Check:
    def __init__(self, model, criterion):
        self.model, self.criterion = model, criterion
        self.worst = torch.tensor(0.0)

    def run(self, batches):
        for rows, goals in batches:
            self.worst = torch.maximum(self.worst, self.criterion(self.model(rows), goals))  # lint: XL203

Check(net, loss_of).run(loader)

# %% two objects in one assignment, one of them for numbers
class Meter:
    def __init__(self, name):
        self.name, self.sum = name, 0.0

    def update(self, value):
        self.sum = self.sum + value  # lint: XL203

def passed(loader):
    losses, hits = Meter("loss"), Meter("hits")
    for rows, goals in loader:
        output = net(rows)
        losses.update(loss_of(output, goals))
        hits.update((output > 0).float().mean().item())
    return losses, hits

passed(loader)
