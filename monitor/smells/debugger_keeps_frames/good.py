# %% let go after use
import io
import pdb

import numpy as np

def simulate(size):
    mesh = np.zeros((size, size))
    return mesh.sum()

stepper = pdb.Pdb(stdin=io.StringIO("step\nnext\nnext\ncontinue\n"), stdout=io.StringIO())
total = stepper.runcall(simulate, 700)
del stepper

# %% small locals
small = pdb.Pdb(stdin=io.StringIO("step\nnext\nnext\ncontinue\n"), stdout=io.StringIO())
total = small.runcall(simulate, 10)

# %% what it saw has a name
mesh = np.zeros((700, 700))

def measure(values):
    return values.sum()

seen = pdb.Pdb(stdin=io.StringIO("step\nnext\ncontinue\n"), stdout=io.StringIO())
total = seen.runcall(measure, mesh)

# %% a debugger that never ran
idle = pdb.Pdb()

# %% a tracer that is no debugger
import trace

tracer = trace.Trace(count=1, trace=0)
total = tracer.runfunc(simulate, 700)
