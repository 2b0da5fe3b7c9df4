# %% stepped past the scaler
import torch
from torch import nn

torch.set_num_threads(1)
bert = nn.Linear(8, 4)
ce = nn.CrossEntropyLoss()
opt = torch.optim.SGD(bert.parameters(), 0.01)
pairs = [(torch.rand(6, 8), torch.randint(4, (6,))) for number in range(3)]

amp = torch.amp.GradScaler("cpu")
for question, answer in pairs:
    opt.zero_grad(set_to_none=True)
    with torch.autocast("cpu"):
        loss = ce(bert(question), answer)
    amp.scale(loss).backward()
    opt.step()  # lint: XL607

# %% a loss that is not scaled, in a function
from torch.cuda.amp import GradScaler, autocast

def train_epoch(model, optimizer, scaler, batches):
    for question, answer in batches:
        optimizer.zero_grad()
        with autocast(enabled=False):
            loss = ce(model(question), answer)
        loss.backward()  # lint: XL607
        scaler.step(optimizer)
        scaler.update()

train_epoch(bert, opt, GradScaler(), pairs)

# %% the weights as they were in the first iteration
with torch.autocast("cpu", dtype=torch.bfloat16):  # lint: XL607
    for epoch in range(2):
        for question, answer in pairs:
            loss = ce(bert(question), answer)
            opt.zero_grad()
            loss.backward()
            opt.step()

# %% the loss in half precision
scaler = torch.amp.GradScaler("cpu")
for question, answer in pairs:
    opt.zero_grad()
    with torch.autocast("cpu"):
        logits = bert(question)
    loss = ce(logits, answer)  # lint: XL607
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()

# %% hundreds of steps past a scaler  # expect: XL607
amp = torch.amp.GradScaler("cpu")
for turn in range(120):
    for question, answer in pairs:
        opt.zero_grad(set_to_none=True)
        with torch.autocast("cpu"):
            loss = ce(bert(question), answer)
        amp.scale(loss).backward()
        opt.step()  # lint: XL607

# %% a new one, by an attribute and a function, with Adam  # expect: XL607
class Trainer:
    def __init__(self, model):
        self.model = model
        self.tuner = torch.optim.AdamW(model.parameters())
        self.scaler = torch.amp.GradScaler("cpu")

    def fit(self, batches):
        for rows, kinds in batches:
            self.tuner.zero_grad()
            self.scaler.scale(ce(self.model(rows), kinds)).backward()
            self.tuner.step()  # lint: XL607

trainer = Trainer(nn.Linear(8, 4))
trainer.fit(pairs * 60)

# %% every loss is inf, so every step is skipped  # expect: XL607
lost = torch.amp.GradScaler("cpu")
for turn in range(20):
    for question, answer in pairs:
        opt.zero_grad()
        lost.scale(ce(bert(question * float("inf")), answer)).backward()
        lost.step(opt)
        lost.update()

# %% a block that is entered by hand and never left  # expect: XL607
block = torch.autocast("cpu", dtype=torch.bfloat16)
block.__enter__()
for question, answer in pairs:
    opt.zero_grad()
    ce(bert(question), answer).backward()
    opt.step()

# %% left at last
block.__exit__(None, None, None)

# %% switched on by a function, without a block  # expect: XL607
torch.set_autocast_enabled("cpu", True)
opt.zero_grad()
ce(bert(pairs[0][0]), pairs[0][1]).backward()
