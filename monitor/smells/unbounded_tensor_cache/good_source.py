# %% with a bound
import functools
import torch

net = torch.nn.Linear(4, 4)

@functools.lru_cache(maxsize=256)
def embed(word):
    return net(encode(word))

# %% texts and numbers
@functools.cache
def width(text):
    return len(text)

# %% a table by length, a mask by device
masks = {}

def mask(length, device):
    if length not in masks:
        masks[length] = torch.ones(length, length, device=device).tril()
    return masks[length]

# %% emptied in another cell
vectors = {}

def vector(word):
    if word not in vectors:
        vectors[word] = net(encode(word))
    return vectors[word]

# %% emptied
vectors.clear()

# %% held weakly
import weakref

alive = weakref.WeakValueDictionary()

def scan(path):
    if path not in alive:
        alive[path] = net(encode(path))
    return alive[path]
