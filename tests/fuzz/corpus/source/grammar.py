from torch.utils.data import DataLoader as DL, Dataset
import torch.nn as nn, os.path
from . import z
from .a import *
@torch.no_grad()
async def f(a, b=1, *c, d: int, e: int = 2, **k) -> int:
    with open(p) as g, torch.no_grad(): pass
    with (a as b, c): pass
    x: int = y = 3
    a, b = c[1:2, ...], -d
    try: pass
    except (A, B) as e: pass
    except: pass
    else: pass
    finally: pass
    return f"{x:.3f}" "a"
class M(nn.Module, metaclass=Q): pass
for i, (j, k) in enumerate(z): pass
else: pass
if a: pass
elif b: pass
else: pass
l = [x for x in y if x]
f(*a, **b, k=1)(x for x in y)
lambda x, y=1: x
a < b <= c
a if b else c
del a, b[0]
global q, r
match x:
    case [1, b]: pass
print(a)
while (n := f()): continue
{**a, 'b': 1}
assert a, b
raise A from b
