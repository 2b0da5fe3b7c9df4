# %% stopped before the next
import threading

def stream(stop):
    stop.wait()

stop = threading.Event()
feeder = threading.Thread(target=stream, args=(stop,), daemon=True)
feeder.start()
stop.set()
feeder.join()

# %% stopped before the next: again
import threading

def stream(stop):
    stop.wait()

stop = threading.Event()
feeder = threading.Thread(target=stream, args=(stop,), daemon=True)
feeder.start()
stop.set()
feeder.join()

# %% one on purpose
watch = threading.Thread(target=threading.Event().wait, daemon=True)  # lint: XL415
watch.start()

# %% a pool whose threads wait for work
from concurrent.futures import ThreadPoolExecutor

pool = ThreadPoolExecutor(3)
lengths = list(pool.map(len, ["a", "bc", "def"]))

# %% a pool whose threads wait for work: again
from concurrent.futures import ThreadPoolExecutor

pool = ThreadPoolExecutor(3)
lengths = list(pool.map(len, ["a", "bc", "def"]))

# %% pools that are kept
pools = []

# %% pools that are kept: run
pools.append(ThreadPoolExecutor(2))
lengths = list(pools[-1].map(len, ["a", "bc"]))

# %% pools that are kept: run
pools.append(ThreadPoolExecutor(2))
lengths = list(pools[-1].map(len, ["a", "bc"]))

# %% a program that ends
import subprocess

listing = subprocess.run(["ls"], capture_output=True)

# %% a program that ends: again
import subprocess

listing = subprocess.run(["ls"], capture_output=True)

# %% ended, though nobody waited
ended = subprocess.Popen(["cat"], stdin=subprocess.DEVNULL)  # lint: XL415
while open(f"/proc/{ended.pid}/stat").read().rpartition(")")[2].split()[0] != "Z":
    pass

# %% ended, though nobody waited
ended = subprocess.Popen(["cat"], stdin=subprocess.DEVNULL)  # lint: XL415
while open(f"/proc/{ended.pid}/stat").read().rpartition(")")[2].split()[0] != "Z":
    pass

# %% a pool of processes of a library
import joblib

squares = joblib.Parallel(n_jobs=2)(joblib.delayed(pow)(number, 2) for number in range(4))

# %% a pool of processes of a library
import joblib

squares = joblib.Parallel(n_jobs=2)(joblib.delayed(pow)(number, 2) for number in range(4))

# %% threads of the numerical library
import numpy as np

product = np.ones((300, 300)) @ np.ones((300, 300))

# %% worker processes of pools
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

fork = multiprocessing.get_context("fork")
pools.append(fork.Pool(1))
pools.append(ProcessPoolExecutor(1, mp_context=fork))
length = pools[-1].submit(len, "abc").result() + pools[-2].apply(len, ["ab"])

# %% worker processes of pools
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

fork = multiprocessing.get_context("fork")
pools.append(fork.Pool(1))
pools.append(ProcessPoolExecutor(1, mp_context=fork))
length = pools[-1].submit(len, "abc").result() + pools[-2].apply(len, ["ab"])

# %% the pools are ended
for pool in pools:
    pool.terminate() if hasattr(pool, "terminate") else pool.shutdown()
