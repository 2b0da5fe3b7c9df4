# %% a criterion and its teacher
import numpy as np

class Net:
    def __init__(self, size):
        self.weights = [np.ones(size) for _ in range(3)]

class Criterion:
    def __init__(self, teacher):
        self.teacher, self.steps = teacher, 0

teacher = Net(1_000_000)
criterion = Criterion(teacher)

# %% a criterion and its teacher: deleted
teacher = None

# %% a criterion and its teacher: kept  # expect: XL422
print(criterion.steps)

# %% a table in the defaults of a function
table = np.ones((2_500, 1_000))
features = {"table": lambda row, of=table: of[row], "double": lambda row: 2 * row}

# %% a table in the defaults of a function: deleted
del table

# %% a table in the defaults of a function: kept  # expect: XL422
print("ready")

# %% the keys of a dictionary
plates = {f"plate {n}": np.full(500_000, float(n)) for n in range(6)}
names = plates.keys()

# %% the keys of a dictionary: set to None
plates = None

# %% the keys of a dictionary: kept  # expect: XL422
print("done")

# %% a part that was replaced
class Pair:
    def __init__(self, head):
        self.head = head

pair = Pair(Net(1_000_000))
observer = Criterion(pair.head)

# %% a part that was replaced: by another
pair.head = Net(8)

# %% a part that was replaced: kept  # expect: XL422
print(pair.head)

# %% a function that is never called, among others
rows = np.ones(2_500_000)
steps = {"pick": lambda row, of=rows: of[row], "half": lambda row: row / 2}

# %% a function that is never called, among others: deleted
del rows

# %% a function that is never called, among others: kept  # expect: XL422
print(steps["half"](3))

# %% a name for something else
class Scaler:
    def fit(self, values):
        self.fitted_on, self.mean = values, values.mean()

values = np.ones(2_500_000)
scaler = Scaler()
scaler.fit(values)

# %% a name for something else: bound
values = values[::100].copy()

# %% a name for something else: kept  # expect: XL422
print(values.sum())

# %% a dictionary
blocks = {number: np.full(500_000, float(number)) for number in range(6)}
mirror = Criterion(tuple(blocks.values()))

# %% a dictionary: emptied
for number in list(blocks):
    blocks.pop(number)

# %% a dictionary: kept  # expect: XL422
print(len(blocks))

# %% one of two attributes
class Search:
    def __init__(self, vectors):
        self.vectors, self.index = vectors, Criterion(vectors)

search = Search(np.ones(2_500_000))

# %% one of two attributes: set to None
search.vectors = None

# %% one of two attributes: kept  # expect: XL422
print("grouped")

# %% made and deleted by one cell
class Bus:
    def __init__(self):
        self.listeners = {"rate": []}

class Region:
    def __init__(self, number):
        self.grid = np.full(500_000, float(number))
        bus.listeners["rate"].append(self.convert)

    def convert(self, rate):
        self.grid *= rate

bus = Bus()
for number in range(6):
    region = Region(number)
    del region

# %% made and deleted by one cell: kept  # expect: XL422
print("converted")

# %% figures
import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

def draw(number):
    figure = plt.figure()
    figure.gca().imshow(np.full((1_000, 500), float(number)))
    return figure

pages = [draw(number) for number in range(6)]

# %% figures: closed
plt.close("all")

# %% figures: kept  # expect: XL422
print("drawn")
