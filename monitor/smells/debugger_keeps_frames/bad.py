# %% a debugger of one's own
import io
import pdb

import numpy as np

def simulate(size):
    mesh = np.zeros((size, size))
    return mesh.sum()

# %% a debugger of one's own: called  # expect: XL412
stepper = pdb.Pdb(stdin=io.StringIO("step\nnext\nnext\ncontinue\n"), stdout=io.StringIO())
total = stepper.runcall(simulate, 700)

# %% after an error: raised
def relax(size):
    grid = np.zeros((size, size))
    return grid.reshape(3, -1)

try:
    relax(800)
except ValueError as error:
    where = error.__traceback__

# %% after an error: looked at  # expect: XL412
examiner = pdb.Pdb(stdin=io.StringIO("bt\nquit\n"), stdout=io.StringIO())
examiner.reset()
examiner.interaction(None, where)
del where

# %% the shell's own, as %debug opens it: raised  # raises  # expect: XL402
from IPython.core import debugger

get_ipython().InteractiveTB.pdb = debugger.Pdb(stdin=io.StringIO("bt\nq\n"), stdout=io.StringIO())
relax(1_000)

# %% the shell's own: looked at
%debug

# %% the shell's own: the next error replaced the traceback  # raises  # expect: XL412
relax("a")
