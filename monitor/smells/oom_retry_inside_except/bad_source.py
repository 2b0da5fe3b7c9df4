# %% a model, on a smaller picture
import torch
from torch import nn

class Upscaler(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 3)

    def forward(self, photo):
        if photo.shape[-1] > 16:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return self.conv(photo)

upscaler = Upscaler()
photo = torch.rand(1, 1, 24, 24)

try:
    out = upscaler(photo)
except torch.cuda.OutOfMemoryError:
    torch.cuda.empty_cache()
    out = upscaler(photo[..., ::2, ::2])  # lint: XL620

# %% a function, and the error by its words
def render(rays):
    if len(rays) > 100:
        raise RuntimeError("CUDA out of memory")
    return rays.sin()

def rendered(rays):
    try:
        return render(rays)
    except RuntimeError as error:
        if "out of memory" in str(error):
            halves = rays.chunk(2)
            return torch.cat([render(half) for half in halves])  # lint: XL620
        else:
            raise

image = rendered(torch.rand(150, 3))

# %% the function itself, by another name of the error
from torch.cuda import OutOfMemoryError as TooBig

class Runner:
    def run(self, batch):
        try:
            if len(batch) > 10:
                raise TooBig("CUDA out of memory")
            return batch * 2
        except (TooBig, MemoryError):
            parts = [self.run(part) for part in batch.chunk(4)]  # lint: XL620
            return torch.cat(parts)

doubled = Runner().run(torch.rand(40))
