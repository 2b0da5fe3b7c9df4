# /// truth
# question = "grows"
# style = "short"
# needs = ["numpy"]
# thread = "Stack Overflow question, asked since 2009 in many forms: a list as default argument remembers what earlier calls put into it"
# order = [1, 2, 3, 3, 4]
# leaked = "2 * 30 * 60_000 * 8"
# cause_cell = 2
# cause_line = "x = np.sin"
# holder = ["read_sensor", "read_sensor.__defaults__", "parts", "default"]
# repair = "read_sensor.__defaults__[0].clear()"
# ///
# %%
import numpy as np

t = np.linspace(0, 60, 60_000)
# %%
def read_sensor(ids, parts=[]):
    for i in ids:
        x = np.sin(t * (i + 1)) + 0.01 * i
        parts.append(x)
    recent = parts[-len(ids):]
    return np.mean([p.max() for p in recent]), len(recent)
# %%
mean_peak, n = read_sensor(range(30))
# %%
print(f"{mean_peak:.3f} from {n} sensors")
