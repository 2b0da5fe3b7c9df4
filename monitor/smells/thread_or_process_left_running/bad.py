# %% a thread that waits for ever: made
import threading

def stream(stop):
    stop.wait()

# %% a thread that waits for ever: run
feeder = threading.Thread(target=stream, args=(threading.Event(),), daemon=True)  # lint: XL415
feeder.start()

# %% a thread that waits for ever: run  # expect: XL415
feeder = threading.Thread(target=stream, args=(threading.Event(),), daemon=True)  # lint: XL415
feeder.start()

# %% a timer: made
def save_later():
    alarm = threading.Timer(1_000, print, ["saved"])
    alarm.daemon = True
    alarm.start()

def autosave():
    alarm = threading.Timer(1_000, save_later)
    alarm.daemon = True
    alarm.start()
    return alarm

# %% a timer: run
pending = autosave()

# %% something else
print(pending.daemon)

# %% a timer: run  # expect: XL415
pending = autosave()

# %% a program: run
import subprocess

server = subprocess.Popen(["cat"], stdin=subprocess.PIPE)  # lint: XL415

# %% a program: run  # expect: XL415
import subprocess

server = subprocess.Popen(["cat"], stdin=subprocess.PIPE)  # lint: XL415

# %% a process of multiprocessing: run
import multiprocessing
import time

worker = multiprocessing.get_context("fork").Process(target=time.sleep, args=(20,), daemon=True)
worker.start()

# %% a process of multiprocessing: run  # expect: XL415
import multiprocessing
import time

worker = multiprocessing.get_context("fork").Process(target=time.sleep, args=(20,), daemon=True)
worker.start()
