# %% a rollout with values of the policy
import torch
from torch import nn

policy = nn.Linear(4, 2)
rollout = []
observation = environment.reset()
for step in range(50_000):
    value = policy(torch.as_tensor(observation).cuda())
    following, reward, done, info = environment.step(value.argmax())
    rollout.append((observation, value, reward))  # lint: XL104
    observation = following

# %% in the class of an agent
from collections import deque

class Agent:
    def __init__(self):
        self.net = nn.Linear(4, 2)
        self.memory = deque(maxlen=100_000)

    def play(self, environment):
        state = environment.reset()
        while not environment.is_over():
            scores = self.net(state)
            self.memory.append((state, scores.max()))  # lint: XL104
            state = environment.step(scores.argmax())

# %% tensors on the device, by the method of a class that is drawn from
class Store:
    def __init__(self):
        self.steps = []

    def push(self, *step):
        self.steps.append(step)

    def sample(self, count):
        return draw(self.steps, count)

# %% and filled in a later cell
store = Store()
for step in range(100_000):
    state = torch.tensor(observe()).to("cuda")
    store.push(state, 1.0)  # lint: XL104
