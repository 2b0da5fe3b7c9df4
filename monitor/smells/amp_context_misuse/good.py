# %% the four calls in order
import torch
from torch import nn

torch.set_num_threads(1)
net = nn.Linear(8, 4)
ce = nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), 0.01)
pairs = [(torch.rand(6, 8), torch.randint(4, (6,))) for number in range(3)]

scaler = torch.amp.GradScaler("cpu")
for rows, kinds in pairs:
    opt.zero_grad(set_to_none=True)
    with torch.autocast("cpu"):
        loss = ce(net(rows), kinds)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()

# %% bfloat16 needs no scaler
for rows, kinds in pairs:
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = ce(net(rows), kinds)
    loss.backward()
    opt.step()

# %% with and without
mixed = False
for rows, kinds in pairs:
    opt.zero_grad()
    with torch.autocast("cpu", enabled=mixed):
        loss = ce(net(rows), kinds)
    if mixed:
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
    else:
        loss.backward()
        opt.step()

# %% the loss in full precision on purpose
for rows, kinds in pairs:
    opt.zero_grad()
    with torch.autocast("cpu"):
        logits = net(rows)
    loss = ce(logits.float(), kinds)
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()

# %% two models, one of them in full precision
critic = nn.Linear(8, 1)
slow = torch.optim.SGD(critic.parameters(), 0.01)
for rows, kinds in pairs:
    slow.zero_grad()
    distance = critic(rows).mean()
    distance.backward()
    slow.step()
    opt.zero_grad()
    with torch.autocast("cpu"):
        loss = ce(net(rows), kinds)
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()

# %% a scaler that is switched off
off = torch.amp.GradScaler("cpu", enabled=False)
for rows, kinds in pairs:
    opt.zero_grad()
    loss = ce(net(rows), kinds)
    off.scale(loss).backward()
    opt.step()

# %% the scaled loss by a name
for rows, kinds in pairs:
    opt.zero_grad()
    loss = scaler.scale(ce(net(rows), kinds))
    loss.backward()
    scaler.step(opt)
    scaler.update()

# %% autocast around what is only computed
with torch.no_grad(), torch.autocast("cpu"):
    for rows, kinds in pairs:
        guesses = net(rows).argmax(1)

# %% hundreds of steps in order, the scale as it was
net.reset_parameters()
for turn in range(120):
    for rows, kinds in pairs:
        opt.zero_grad(set_to_none=True)
        with torch.autocast("cpu"):
            loss = ce(net(rows), kinds)
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()

# %% one overflow, and on with half the scale
opt.zero_grad()
scaler.scale(ce(net(pairs[0][0] * float("inf")), pairs[0][1])).backward()
scaler.step(opt)
scaler.update()

# %% one loss scaled to look at its gradients
probe = torch.amp.GradScaler("cpu")
probe.scale(ce(net(pairs[0][0]), pairs[0][1])).backward()
largest = max(weight.grad.abs().max().item() for weight in net.parameters())

# %% then hundreds of steps in full precision
for turn in range(120):
    for rows, kinds in pairs:
        opt.zero_grad()
        ce(net(rows), kinds).backward()
        opt.step()

# %% a scaler that never scales, for bfloat16
unused = torch.amp.GradScaler("cpu")
for turn in range(120):
    for rows, kinds in pairs:
        opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = ce(net(rows), kinds)
        loss.backward()
        opt.step()

# %% a block kept by a name, and left
block = torch.autocast("cpu", dtype=torch.bfloat16)
with block:
    guesses = net(pairs[0][0])
