# %% behind the block
import torch
from torch import nn

model = nn.Linear(4, 2)
rows = torch.rand(64, 4)

too_big = False
try:
    out = model(rows)
except torch.cuda.OutOfMemoryError:
    too_big = True
if too_big:
    torch.cuda.empty_cache()
    out = model(rows[::2])

# %% by the next iteration of a loop
size = 64
while size > 0:
    try:
        out = model(rows[:size])
        break
    except torch.cuda.OutOfMemoryError:
        size //= 2
        continue

# %% only cleaned up
def step(batch, optimizer):
    try:
        model(batch).sum().backward()
        optimizer.step()
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
        print("skipped", len(batch))
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.empty_cache()

step(rows, torch.optim.SGD(model.parameters(), 0.1))

# %% another error
try:
    out = model(rows)
except RuntimeError:
    out = model(rows.float())

# %% raised again
def predict(batch):
    try:
        return model(batch)
    except torch.cuda.OutOfMemoryError:
        report(batch)
        raise

def report(batch):
    print(batch.shape)

out = predict(rows)

# %% another model, that runs on the host
small = nn.Linear(4, 2)
try:
    out = model(rows)
except torch.cuda.OutOfMemoryError:
    out = small(rows.cpu())

# %% the same model, on the host
def converted(rows):
    try:
        return doubled(rows)
    except torch.OutOfMemoryError:
        rows = rows.to("cpu")
        return doubled(rows)

def doubled(rows):
    return rows * 2

out = converted(rows)
