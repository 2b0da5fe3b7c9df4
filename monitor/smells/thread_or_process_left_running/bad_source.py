# %% by another name, in a function that a cell calls
from threading import Thread as Worker

def watch(folder):
    while True:
        look_at(folder)

def start():
    worker = Worker(target=watch, args=("data",), daemon=True)  # lint: XL415
    worker.start()

# %% called
start()

# %% without a name
import multiprocessing as mp

mp.Process(target=serve).start()  # lint: XL415
