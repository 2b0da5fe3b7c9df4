# %% stopped in a later cell: started
import threading

stop = threading.Event()
feeder = threading.Thread(target=stream, args=(stop,))
feeder.start()

# %% stopped in a later cell: stopped
stop.set()
feeder.join()

# %% all of them joined
threads = []
for part in parts:
    thread = threading.Thread(target=load, args=(part,))
    thread.start()
    threads.append(thread)
for thread in threads:
    thread.join()

# %% a program whose output is read
import subprocess

process = subprocess.Popen(["ls"], stdout=subprocess.PIPE)
listing = process.stdout.read()

# %% a program that is waited for
subprocess.Popen(["make"]).wait()

# %% for whoever called
def started(target):
    thread = threading.Thread(target=target)
    thread.start()
    return thread
