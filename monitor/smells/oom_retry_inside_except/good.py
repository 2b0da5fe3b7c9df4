# %% a model that keeps its activations until it ends
import torch
from torch import nn

class Upscaler(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 3)

    def forward(self, photo):
        features = torch.zeros(600, 1000) + photo.mean()
        if photo.shape[-1] > 32:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return self.conv(photo) + features.mean()

upscaler = Upscaler()
photo = torch.rand(1, 1, 48, 48)

# %% behind the block
too_big = False
try:
    out = upscaler(photo)
except torch.cuda.OutOfMemoryError:
    too_big = True
if too_big:
    torch.cuda.empty_cache()
    out = upscaler(photo[..., ::2, ::2])

# %% by the next iteration of a loop
side = 48
while side > 0:
    try:
        out = upscaler(photo[..., :side, :side])
        break
    except torch.cuda.OutOfMemoryError:
        side //= 2
        continue

# %% inside the block, where it fits: nothing is left
try:
    out = upscaler(photo)
except torch.cuda.OutOfMemoryError:
    out = upscaler(photo[..., ::2, ::2])  # lint: XL620

# %% behind the block, in vain  # raises
def attempt(photo):
    if photo.shape[-1] > 8:
        raise torch.OutOfMemoryError("CUDA out of memory")
    return upscaler(photo)

fits = True
try:
    out = attempt(photo)
except torch.OutOfMemoryError:
    fits = False
if not fits:
    out = attempt(photo[..., ::2, ::2])

# %% a small first attempt  # raises
try:
    out = attempt(photo)
except torch.OutOfMemoryError:
    out = attempt(photo[..., ::2, ::2])  # lint: XL620

# %% an error of the cleaning up  # raises
try:
    out = attempt(photo)
except torch.OutOfMemoryError:
    torch.cuda.empty_cache()
    del nothing_of_that_name

# %% told in other words  # raises
try:
    out = attempt(photo)
except torch.OutOfMemoryError as error:
    raise RuntimeError("use a smaller photo") from error
