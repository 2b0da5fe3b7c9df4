# %% with
import contextlib
import json
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
with open(folder / "a.txt", "w") as out:
    out.write("a\n")

handle = open(folder / "a.txt")
with handle:
    text = handle.read()

# %% closed in the end
writer = open(folder / "b.txt", "w")
try:
    writer.write("b\n")
finally:
    writer.close()

# %% closed in another cell: opened
log = open(folder / "log.txt", "w")

# %% closed in another cell: closed
log.write("done\n")
log.close()

# %% all at once
with contextlib.ExitStack() as stack:
    files = [stack.enter_context(open(folder / name)) for name in ("a.txt", "b.txt")]
    texts = [file.read() for file in files]

# %% for whoever called
def opened(name):
    file = open(folder / name)
    return file

with opened("a.txt") as file:
    text = file.read()

# %% by somebody else
import io

raw = open(folder / "a.txt", "rb")
reader = io.TextIOWrapper(raw)
text = reader.read()
reader.close()

# %% whole files by their path
text = (folder / "b.txt").read_text()

# %% kept, and closed one by one
several = [open(folder / name) for name in ("a.txt", "b.txt")]
for one in several:
    one.close()

# %% closed at the end of the process
import atexit

journal = open(folder / "journal.txt", "w")
atexit.register(journal.close)
journal.write("begun\n")
