# %% both deleted
import numpy as np

class Net:
    def __init__(self, size):
        self.weights = [np.ones(size) for _ in range(3)]

class Criterion:
    def __init__(self, teacher):
        self.teacher = teacher

teacher = Net(1_000_000)
criterion = Criterion(teacher)

# %% both deleted: the end
del teacher, criterion

# %% shown by a container
first, second = np.ones(2_500_000), np.zeros(10)
arrays = {"first": first, "second": second}

# %% shown by a container: deleted
del first, second

# %% in use by what keeps it
class Index:
    def __init__(self, rows):
        self.rows = rows

    def nearest(self, value):
        return int(np.abs(self.rows - value).argmin())

rows = np.ones(2_500_000)
index = Index(rows)

# %% in use by what keeps it: deleted
del rows

# %% in use by what keeps it: asked
print(index.nearest(3.0))

# %% another name of an object
net = Net(1_000_000)
base = net

# %% another name of an object: deleted
del net

# %% moved on
class Store:
    def __init__(self):
        self._rows = []

    def add(self, rows):
        self._rows.append(rows)

pending = [np.full(1_250_000, float(number)) for number in range(2)]
store = Store()

# %% moved on: by the cell that empties
while pending:
    store.add(pending.pop())

# %% the variable of a loop
pair = Criterion([Net(1_000_000), Net(1_000_000)])
for member in pair.teacher:
    print(member.weights[0].sum())

# %% the variable of a loop: again
for member in "ab":
    print(member)

# %% wrapped under its own name
wrapped = Net(1_000_000)

# %% wrapped under its own name: in another
wrapped = Criterion(wrapped)

# %% gone for good
whole = np.ones(2_500_000)
part = whole[:10].copy()

# %% gone for good: deleted
del whole

# %% the end
print(part.sum())

# %% a function that was called, among others
columns = np.ones(2_500_000)
steps = {"pick": lambda row, of=columns: of[row], "half": lambda row: row / 2}

# %% a function that was called, among others: deleted
del columns

# %% a function that was called, among others: in use
print([step(3) for step in steps.values()])

# %% a loss that leads to its model
import torch

model = torch.nn.Sequential(torch.nn.Linear(1_000, 2_000), torch.nn.ReLU(), torch.nn.Linear(2_000, 1_000))
loss = model(torch.ones(8, 1_000)).square().mean()

# %% a loss that leads to its model: deleted
del loss

# %% a loss that leads to its model: in use
print(len(model))

# %% what closed figures drew
import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

class Scan:
    def __init__(self):
        self.red = np.full((1_000, 1_500), 0.5)
        self.green = np.full((1_000, 1_500), 0.25)

scan = Scan()
plt.figure().gca().imshow(scan.red)
plt.figure().gca().imshow(scan.green);

# %% what closed figures drew: closed
plt.close("all")

# %% what closed figures drew: in use
print("drawn")
