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

# %% the weights as they were in the first turn
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
