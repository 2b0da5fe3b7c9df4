# %% without graphs
import collections

import numpy as np
import torch

policy = torch.nn.Sequential(torch.nn.Linear(300, 60), torch.nn.Tanh(), torch.nn.Linear(60, 4))
replay = collections.deque(maxlen=50_000)
for step in range(120):
    observation = torch.rand(40, 300)
    with torch.no_grad():
        replay.append((observation, policy(observation), 0.5))

# %% a ring in one tensor
buffer = torch.zeros(200, 12_000)
for step in range(120):
    buffer[step % 200] = policy(torch.rand(40, 300)).detach().sum()

# %% arrays
experience = []
for step in range(120):
    experience.append(np.random.rand(10, 300))

# %% probabilities for one update: collected
trajectory = []
for step in range(120):
    trajectory.append(policy(torch.rand(40, 300)))

# %% probabilities for one update: led back
torch.stack(trajectory).mean().backward()
trajectory.clear()

# %% probabilities for the next update
for step in range(120):
    trajectory.append(policy(torch.rand(40, 300)))
torch.stack(trajectory).mean().backward()
trajectory.clear()

# %% a short window
memory = collections.deque(maxlen=16)
for step in range(120):
    memory.append(policy(torch.rand(40, 300)))

# %% the end
count = len(memory)
