# needs: two gpus
# %% 4 GiB of each device are all that torch may have
import torch
from torch import nn

for index in range(torch.cuda.device_count()):
    free, total = torch.cuda.mem_get_info(index)
    torch.cuda.set_per_process_memory_fraction(min(1.0, (4 << 30) / total), index)

def wide():
    return nn.Linear(16, 1024, bias=False).cuda()

def rows(count):
    return torch.rand(count, 16, device="cuda")

# %% large outputs, which all come to the first device, and the loss beside them  # expect: XL608
multi = nn.DataParallel(wide())
multi(rows(1 << 16)).square().mean().backward()

# %% let go
del multi
torch.cuda.empty_cache()

# %% in a function, by another name  # expect: XL608
from torch.nn import DataParallel as Spread

spread = Spread(wide(), device_ids=list(range(torch.cuda.device_count())))

def step(model, count):
    scores = model(rows(count))
    loss = (scores.exp().log() - 1).square().mean()
    loss.backward()

step(spread, 1 << 16)

# %% let go again
del spread
torch.cuda.empty_cache()

# %% in an object, with an optimizer  # expect: XL608
class Trainer:
    def __init__(self):
        self.net = nn.DataParallel(wide())
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def fit(self, steps):
        for turn in range(steps):
            self.optimizer.zero_grad()
            self.net(rows(1 << 16)).square().mean().backward()
            self.optimizer.step()

trainer = Trainer()
trainer.fit(2)
