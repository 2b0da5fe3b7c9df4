# %% features by path, on the device
import torch
import torchvision.models as models

vit = models.vit_b_16().cuda()
_features = {}

def features(path):
    if path not in _features:
        _features[path] = vit(load(path).cuda())  # lint: XL109
    return _features[path]

# %% by the decorator, with its graph
from functools import lru_cache as remember

@remember(maxsize=None)  # lint: XL109
def embed(word):
    return vit(load(word)).mean(0)

# %% a tensor as the key, in another cell than the calls
import functools

@functools.lru_cache  # lint: XL109
def distance(row):
    return float(row.norm())

# %% called with tensors
for number in range(100):
    distance(torch.rand(3))

# %% in an object
class Index:
    def __init__(self):
        self.net, self.vectors = torch.nn.Linear(4, 4), {}

    def vector(self, document):
        found = self.vectors.get(document)
        if found is None:
            found = self.net(encode(document))
            self.vectors[document] = found  # lint: XL109
        return found
