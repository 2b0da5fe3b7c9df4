# %% a file, by a name of the module
from logging import FileHandler, getLogger

audit = getLogger("audit")
audit.setLevel("INFO")
audit.addHandler(FileHandler("audit.log"))  # lint: XL406

# %% in a constructor
import logging as log

class Trainer:
    def __init__(self):
        self.log = log.getLogger(__name__)
        self.log.addHandler(log.StreamHandler())  # lint: XL406

# %% in a loop, for the root
for level in (10, 20, 30):
    copy = log.StreamHandler()
    log.getLogger().addHandler(copy)  # lint: XL406

# %% by a function that a loop calls
def logged(fold):
    audit.addHandler(FileHandler("audit.log"))  # lint: XL406
    audit.info("fold %s", fold)

for fold in range(5):
    logged(fold)
