# /// truth
# question = "asked"
# style = "short"
# needs = ["numpy"]
# thread = "Stack Overflow, 2013, and GitHub, pyhf, 2020: listeners replaced by others; here the old one is taken off the hub first"
# ///
# %%
import numpy as np
class Hub(dict):
    def join(self, topic, fn): self.setdefault(topic, []).append(fn)
    def leave(self, topic, fn): self[topic].remove(fn)
    def send(self, topic, x): [fn(x) for fn in self.get(topic, [])]
class Scope:
    def __init__(self, hub, n): self.hub, self.trace, self.i = hub, np.zeros(n), 0; hub.join("sample", self.push)
    def push(self, x): self.trace[self.i % self.trace.size] = x; self.i += 1
    def close(self): self.hub.leave("sample", self.push)
# %%
hub = Hub(); scope = Scope(hub, 5_000_000)
hub.send("sample", 1.5)
# %%
scope.close()
scope = Scope(hub, 200); hub.send("sample", 2.5)
print(len(hub["sample"]), scope.trace[0])
