import logging

root = logging.getLogger()
for handler in (logging.StreamHandler(), logging.FileHandler("run.log")):
    root.addHandler(handler)
