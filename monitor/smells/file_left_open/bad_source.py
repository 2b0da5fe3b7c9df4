# %% under a name that stays
import json
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
notes = open(folder / "notes.txt", "w")  # lint: XL505
notes.write("first\n")

# %% in a loop
for number in range(3):
    path = folder / f"{number}.ndjson"
    path.write_text('{"n": 1}\n')

rows = []
for path in sorted(folder.glob("*.ndjson")):
    handle = open(path)  # lint: XL505
    rows.extend(map(json.loads, handle))

# %% read line by line
lines = open(folder / "0.ndjson")  # lint: XL505
for line in lines:
    rows.append(line)

# %% all of them kept
parts = [open(path) for path in sorted(folder.glob("*.ndjson"))]  # lint: XL505
first = [part.readline() for part in parts]

# %% without a name
table = json.load(open(folder / "1.ndjson"))  # lint: XL505
text = open(folder / "2.ndjson").read()  # lint: XL505

# %% in a function, by another opener
import gzip as packed

def save(values, path):
    out = packed.open(path, "wt")  # lint: XL505
    json.dump(values, out)

save(rows[:1], folder / "rows.gz")
