# %% a stream: run
import logging

logging.getLogger("audit").addHandler(logging.StreamHandler())  # lint: XL406

# %% a stream: run again  # expect: XL406
import logging

logging.getLogger("audit").addHandler(logging.StreamHandler())  # lint: XL406

# %% a buffer in a function: made
from logging.handlers import MemoryHandler

def log_to_memory():
    handler = MemoryHandler(1_000)
    logging.getLogger("survey.night").addHandler(handler)  # lint: XL406
    return handler

# %% a buffer in a function: run
buffered = log_to_memory()

# %% a buffer in a function: run  # expect: XL406
buffered = log_to_memory()

# %% the root, by two handlers: run
import io

root = logging.getLogger()
for level in (logging.INFO, logging.ERROR):
    copy = logging.StreamHandler(io.StringIO())
    copy.setLevel(level)
    root.addHandler(copy)  # lint: XL406

# %% something else
print(len(root.handlers) > 1)

# %% the root, by two handlers: run  # expect: XL406
import io

root = logging.getLogger()
for level in (logging.INFO, logging.ERROR):
    copy = logging.StreamHandler(io.StringIO())
    copy.setLevel(level)
    root.addHandler(copy)  # lint: XL406
