# %% under inference_mode
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

scans = DataLoader(TensorDataset(torch.rand(32, 8), torch.randint(0, 3, (32,))), batch_size=8)
segnet = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
segnet.eval()
hits = 0
with torch.inference_mode():
    for scan, mask in scans:
        hits += (segnet(scan).argmax(1) == mask).sum().item()

# %% a function with a decorator
@torch.no_grad()
def validate(model, loader):
    model.eval()
    return sum(model(inputs).argmax(1).eq(labels).sum().item() for inputs, labels in loader)

right = validate(segnet, scans)

# %% gradients off around the call
def accuracy(model, loader):
    model.eval()
    right = 0
    for inputs, labels in loader:
        right += model(inputs).argmax(1).eq(labels).sum().item()
    return right

with torch.no_grad():
    right = accuracy(segnet, scans)

# %% gradients of the input
segnet.eval()
def saliency(model, image):
    model.eval()
    image.requires_grad_()
    score = model(image).max()
    score.backward()
    return image.grad.abs()

heat = saliency(segnet, torch.rand(1, 8))

# %% both phases in one loop, the mode by a flag
optimizer = torch.optim.SGD(segnet.parameters(), lr=0.01)
for phase in ("train", "valid"):
    if phase == "train":
        segnet.train()
    else:
        segnet.eval()
    for scan, mask in scans:
        with torch.set_grad_enabled(phase == "train"):
            loss = nn.functional.cross_entropy(segnet(scan), mask)
        if phase == "train":
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

# %% fine-tuned with its statistics frozen
segnet.eval()
for scan, mask in scans:
    optimizer.zero_grad()
    nn.functional.cross_entropy(segnet(scan), mask).backward()
    optimizer.step()

# %% dropout that stays on
segnet.train()
with torch.no_grad():
    samples = [segnet(torch.rand(4, 8)) for turn in range(5)]

# %% no weight asks for a gradient
frozen = nn.Linear(8, 4).requires_grad_(False)
teacher = nn.Linear(8, 4)
for weight in teacher.parameters():
    weight.requires_grad = False
teacher.eval()
for scan, mask in scans:
    target = teacher(scan)

# %% wide, under inference_mode
wide = nn.Sequential(nn.Linear(8, 2048), nn.ReLU(), nn.Linear(2048, 3))
wide.eval()
with torch.inference_mode():
    answer = wide(torch.rand(256, 8))

# %% led back in a later cell
answer = wide(torch.rand(256, 8))

# %% which is the next
answer.sum().backward()
wide.zero_grad()

# %% gradients of an input, wanted later
image = torch.rand(256, 8, requires_grad=True)
score = wide(image).max()

# %% much later
print(score.item())

# %% when it is time
(heat,) = torch.autograd.grad(score, image)

# %% activations that a hook collects, and their gradients
seen = []
handle = wide[1].register_forward_hook(lambda module, given, made: seen.append(made))
score = wide(torch.rand(256, 8)).max()

# %% looked at first
print(seen[0].shape)

# %% Grad-CAM
weights = torch.autograd.grad(score, seen[0])
handle.remove()
del score, seen[:], weights

# %% cut from its graph
answer = wide(torch.rand(256, 8)).detach()

# %% kept as it is
print(answer.shape)

# %% weights that ask for no gradient
fixed = nn.Sequential(nn.Linear(8, 2048), nn.ReLU(), nn.Linear(2048, 3)).requires_grad_(False)
fixed.eval()
features = fixed(torch.rand(256, 8))

# %% and nothing keeps their activations
print(features.shape)
