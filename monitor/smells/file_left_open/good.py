# %% parts of a table
import contextlib
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
for number in range(60):
    (folder / f"{number}.csv").write_text("1,2\n" * 9)
paths = sorted(folder.glob("*.csv"))

# %% all at once, and closed
with contextlib.ExitStack() as stack:
    files = [stack.enter_context(open(path)) for path in paths]
    texts = [file.read() for file in files]

# %% one name, run again: run
handle = open(paths[0])  # lint: XL505
text = handle.read()

# %% one name, run again: run
handle = open(paths[0])  # lint: XL505
text = handle.read()

# %% one name, run again: run
handle = open(paths[0])  # lint: XL505
text = handle.read()

# %% the log of a session: opened
log = open(folder / "log.txt", "w")

# %% the log of a session: one more
print("step 1", file=log)

# %% the log of a session: one more
print("step 2", file=log)

# %% the log of a session: closed
log.close()

# %% parts that are read bit by bit: opened
import numpy as np

class Shards:
    def __init__(self, paths):
        self.files = [open(path, "rb") for path in paths]  # lint: XL505

    def record(self, part, at):
        self.files[part].seek(at * 4)
        return self.files[part].read(4)

shards = Shards(paths)
record = shards.record(0, 2)

# %% parts that are read bit by bit: something else
print(record)

# %% parts that are read bit by bit: still something else
print(len(record))

# %% parts that are read bit by bit: more
record = shards.record(1, 3)

# %% not begun yet
waiting = [path.open() for path in paths]

# %% not begun yet: something else
print(len(waiting))

# %% not begun yet: something else
print(waiting[0].name)

# %% not begun yet: still not
print(waiting[1].name)

# %% read and closed in the end
lengths = []
for file in waiting:
    lengths.append(len(file.read()))
    file.close()

# %% parts of an array, mapped
arrays = []
for path in paths:
    arrays.append(np.memmap(path, mode="r"))

# %% parts of an array: used
total = sum(int(array.sum()) for array in arrays)

# %% parts of an array: something else
print(total)

# %% parts of an array: something else
print(len(arrays))

# %% sockets: run
import socket

peers = [*globals().get("peers", []), *socket.socketpair()]

# %% sockets: run
import socket

peers = [*globals().get("peers", []), *socket.socketpair()]

# %% a drawing, whose fonts stay open: run
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

figure = Figure()
figure.text(0.5, 0.5, "title")
FigureCanvasAgg(figure).draw()

# %% a drawing, whose fonts stay open: run
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

figure = Figure()
figure.text(0.5, 0.5, "title")
FigureCanvasAgg(figure).draw()

# %% the log of a handler: opened
import logging

keeper = logging.FileHandler(folder / "all.log")
logging.getLogger("shop").addHandler(keeper)  # lint: XL406

# %% a file for a while: run
scratch = tempfile.TemporaryFile()

# %% a file for a while: run
scratch = tempfile.TemporaryFile()

# %% the next part of several, the last one closed: run
current = globals().get("current")
if current:
    current.close()
current = open(paths[3])

# %% the next part of several, the last one closed: run
current = globals().get("current")
if current:
    current.close()
current = open(paths[3])
