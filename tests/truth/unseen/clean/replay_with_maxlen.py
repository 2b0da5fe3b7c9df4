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
Step = namedtuple("Step", "s a r s2")
policy = nn.Sequential(nn.Flatten(), nn.Linear(4 * 64 * 64, 3))
opt = torch.optim.RMSprop(policy.parameters(), 1e-4)
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
s = torch.rand(4, 64, 64)
for t in range(500):
    s2 = torch.rand(4, 64, 64)
    mem.push(s, random.randrange(3), random.random(), s2)
    s = s2
    if t > 100 and t % 25 == 0:
        b = mem.sample(32)
        q = policy(torch.stack(b.s)).gather(1, torch.tensor(b.a)[:, None])[:, 0]
        loss = nn.functional.smooth_l1_loss(q, torch.tensor(b.r))
        opt.zero_grad(); loss.backward(); opt.step()
print(len(mem.memory), loss.item())
