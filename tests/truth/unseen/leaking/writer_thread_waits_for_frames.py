# /// truth
# question = "reach"
# style = "short"
# needs = ["numpy"]
# thread = "Twisted ticket of 2005: the worker of a thread pool has the last job in its local variables while it waits for the next"
# leaked = "1500 * 2000 * 8"
# cause_cell = 2
# cause_line = "q.put(np.full("
# holder = ["thread", "writer", "local variable of a thread"]
# repair = "import numpy as np\nq.put(np.zeros((1, 1)))\nq.join()"
# ///
# %%
import queue
import threading

import numpy as np

q, stats = queue.Queue(maxsize=2), []


def writer():
    while True:
        frame = q.get()
        stats.append((frame.shape, float(frame.mean())))
        q.task_done()


threading.Thread(target=writer, daemon=True).start()
# %%
for k in range(6):
    q.put(np.full((1500, 2000), k, dtype="float64"))
q.join()
# %%
print(stats[-1])
