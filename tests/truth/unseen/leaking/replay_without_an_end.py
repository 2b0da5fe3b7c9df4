# /// truth
# question = "grows"
# style = "short"
# needs = ["torch"]
# thread = "Stack Overflow question of 2018: DQN eats all memory, the replay memory is a list that is sampled near its end and never shortened"
# leaked = "(500 - 64) * 3 * 84 * 84 * 4"
# cause_cell = 3
# cause_line = "nxt = torch.rand"
# holder = ["memory", "memory.items", "Memory"]
# repair = "del memory.items[:-64]"
# ///
# %%
import random, torch
from torch import nn
torch.manual_seed(0); random.seed(0)

q = nn.Sequential(nn.Flatten(), nn.Linear(3 * 84 * 84, 4))
opt = torch.optim.SGD(q.parameters(), 1e-4)
# %%
class Memory:
    def __init__(self):
        self.items = []
    def push(self, *t):
        self.items.append(t)
    def recent(self, n):
        return random.sample(self.items[-64:], n)
# %%
memory, obs = Memory(), torch.rand(3, 84, 84)
for step in range(500):
    nxt = torch.rand(3, 84, 84)
    memory.push(obs, random.randrange(4), random.random(), nxt)
    obs = nxt
    if step > 64 and step % 40 == 0:
        s, a, r, s2 = zip(*memory.recent(16))
        loss = (q(torch.stack(s)).amax(1) - torch.tensor(r)).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
# %%
print(q(torch.stack([m[3] for m in memory.recent(8)])).argmax(1))
