# %% a guard that returns
import logging

def logger_of(name):
    logger = logging.getLogger("survey")
    if logger.handlers:
        return logger
    logger.addHandler(logging.StreamHandler())
    return logger

logger_of("survey")

# %% emptied before
audit = logging.getLogger("audit")
audit.handlers.clear()
audit.addHandler(logging.FileHandler("audit.log"))

# %% a name for each run
class Trainer:
    def __init__(self, name):
        self.log = logging.getLogger(name)
        self.log.addHandler(logging.FileHandler(name))

# %% a library's silence
logging.getLogger(__name__).addHandler(logging.NullHandler())

# %% another library's handlers
bus.addHandler(on_message)
