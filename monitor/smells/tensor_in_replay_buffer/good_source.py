# %% detached and on the host
import torch
from collections import deque
from torch import nn

policy = nn.Linear(4, 2)
replay_buffer = deque(maxlen=100_000)
for step in range(10_000):
    scores = policy(observe())
    replay_buffer.append((scores.detach().cpu(), scores.argmax().item()))

# %% without gradients
memory = []
for step in range(10_000):
    with torch.no_grad():
        memory.append(policy(observe()))

# %% log probabilities that are led back and dropped
experience = []
for episode in range(100):
    for step in range(200):
        experience.append(policy(observe()).log_softmax(-1)[0])
    torch.stack(experience).sum().backward()
    experience.clear()

# %% a short window
recent_transitions = deque(maxlen=8)
for step in range(10_000):
    recent_transitions.append(policy(observe()))
