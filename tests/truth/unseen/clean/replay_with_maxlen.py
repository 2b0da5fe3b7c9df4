# /// truth
# question = "grows"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch tutorial on DQN and questions about it, 2018: the replay memory is a deque with a capacity"
# ///
# %%
import random
from collections import deque, namedtuple
import torch
from torch import nn

torch.manual_seed(0); random.seed(0)
Step = namedtuple("Step", "s r")
value = nn.Sequential(nn.Flatten(), nn.Linear(4 * 64 * 64, 1))
opt = torch.optim.RMSprop(value.parameters(), 1e-4)
# %%
class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)
    def push(self, *args):
        self.memory.append(Step(*args))
    def sample(self, n):
        return Step(*zip(*random.sample(self.memory, n)))
# %%
mem = ReplayMemory(150)
for t in range(500):
    mem.push(torch.rand(4, 64, 64), random.random())
    if t > 100 and t % 25 == 0:
        b = mem.sample(32)
        loss = nn.functional.smooth_l1_loss(value(torch.stack(b.s))[:, 0], torch.tensor(b.r))
        opt.zero_grad(); loss.backward(); opt.step()
print(len(mem.memory), loss.item())
