# %% a deque of steps: defined
import collections
import random

import torch

policy = torch.nn.Sequential(torch.nn.Linear(300, 60), torch.nn.Tanh(), torch.nn.Linear(60, 4))

# %% a deque of steps: filled  # expect: XL104
replay = collections.deque(maxlen=50_000)
for step in range(120):
    observation = torch.rand(40, 300)
    replay.append((observation, policy(observation), 0.5))  # lint: XL104

# %% a class that is drawn from: defined
class Store:
    def __init__(self):
        self.steps = []

    def put(self, **step):
        self.steps.append(step)

    def sample(self, count):
        return random.sample(self.steps, count)

store = Store()

# %% a class that is drawn from: filled  # expect: XL104
for step in range(120):
    observation = torch.rand(40, 300)
    store.put(observation=observation, value=policy(observation))

# %% a list: filled
rollout = []
for step in range(120):
    rollout.append(policy(torch.rand(40, 300)))  # lint: XL104

# %% a list: still there  # expect: XL104
count = len(rollout)
