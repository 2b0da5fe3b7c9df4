# %% a model that keeps its activations until it ends
import torch
from torch import nn

class Upscaler(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 3)

    def forward(self, photo):
        features = photo.repeat(1, 300, 1, 1)
        if photo.shape[-1] > 8:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return self.conv(photo) + features.mean()

upscaler = Upscaler()
photo = torch.rand(1, 1, 48, 48)

# %% smaller, and still too large  # raises  # expect: XL620
try:
    out = upscaler(photo)
except torch.cuda.OutOfMemoryError:
    torch.cuda.empty_cache()
    out = upscaler(photo[..., ::2, ::2])  # lint: XL620

# %% by words, through helpers
def render(rays, size):
    weights = torch.ones(size)
    if len(rays) > 10:
        raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB")
    return rays.sin() * weights.mean()

def rendered(rays):
    try:
        return render(rays, 500_000)
    except RuntimeError as error:
        if "out of memory" in str(error):
            return torch.cat([render(half, 4) for half in rays.chunk(2)])
        raise

# %% called  # raises  # expect: XL620
image = rendered(torch.rand(150, 3))

# %% by the function itself, again and again
class Runner:
    def run(self, batch):
        try:
            return self.step(batch)
        except torch.OutOfMemoryError:
            return self.run(batch[: len(batch) // 2])  # lint: XL620

    def step(self, batch):
        if len(batch) < 1000:
            raise ValueError("too small to go on")
        hidden = batch.repeat(1, 4)
        raise torch.OutOfMemoryError("CUDA out of memory")

runner = Runner()

# %% until something else fails  # raises  # expect: XL620
halves = runner.run(torch.rand(10_000, 20))
