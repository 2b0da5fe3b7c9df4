# %% parts of a table
import gzip
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
for number in range(60):
    (folder / f"{number}.csv").write_text("1,2\n")
paths = sorted(folder.glob("*.csv"))

# %% a list that outlives the runs of a cell
logs = []

# %% one more with each run: run
logs.append(open(paths[len(logs)]))
print(logs[-1].readline())

# %% one more with each run: run  # expect: XL505
logs.append(open(paths[len(logs)]))
print(logs[-1].readline())

# %% by a helper, in an object: made
class Journal:
    def __init__(self):
        self.pages = {}

    def page(self, name):
        self.pages[name] = open(folder / name, "a")
        return self.pages[name]

journal = Journal()

# %% by a helper, in an object: run
written = journal.page(f"{len(journal.pages)}.txt").write("begun\n")

# %% something else
print(written)

# %% by a helper, in an object: run  # expect: XL505
written = journal.page(f"{len(journal.pages)}.txt").write("begun\n")

# %% packed files, in pairs
pairs = []
for number in range(2):
    with gzip.open(folder / f"{number}.gz", "wt") as out:
        out.write("1\n")

# %% packed files, in pairs: run
pairs.append((len(pairs), gzip.open(folder / "0.gz", "rt")))
print(pairs[-1][1].readline())

# %% packed files, in pairs: run  # expect: XL505
pairs.append((len(pairs), gzip.open(folder / "0.gz", "rt")))
print(pairs[-1][1].readline())

# %% all parts at once
parts = [open(path) for path in paths]  # lint: XL505
first = [part.readline() for part in parts]

# %% all parts at once: looked at
print(first[0])

# %% all parts at once: done with  # expect: XL505
print(len(first))

# %% by name, read in another cell
by_name = {}
for path in paths:
    by_name[path.stem] = path.open("rb")

# %% by name: read
sizes = {name: len(file.read()) for name, file in by_name.items()}

# %% by name: something else
print(sum(sizes.values()))

# %% by name: done with  # expect: XL505
print(max(sizes.values()))
