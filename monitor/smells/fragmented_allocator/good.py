# needs: gpu
# %% the results go to the CPU
import torch

marks = []
for step in range(48):
    features = torch.ones((4 << 20) + step * 65536, device="cuda")
    marks.append(features[:1000].cpu())
    features = None
torch.cuda.empty_cache()

# %% one size for all
kept = []
for step in range(100):
    features = torch.ones(4 << 20, device="cuda")
    kept.append(features.mean())
    features = None

# %% a cache just after a peak
large = [torch.zeros(64 << 20, device="cuda") for part in range(4)]
large = None

# %% what is reserved is in use
torch.cuda.empty_cache()
weights = [torch.zeros(16 << 20, device="cuda") for layer in range(8)]
