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
