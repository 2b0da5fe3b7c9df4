# /// truth
# question = "reach"
# style = "short"
# needs = ["torch"]
# thread = "IPython pull request of 2019 on a leak at exceptions: the stored traceback keeps the variables of its frames"
# leaked = "3000 * (1024 + 1024) * 4"
# cause_cell = 2
# cause_line = "feats = body(xb).relu()"
# holder = ["sys.last_traceback", "sys.last_value", "traceback", "InteractiveTB"]
# repair = "import sys\nsys.last_traceback = sys.last_value = None\nget_ipython().InteractiveTB.tb = get_ipython().InteractiveTB.evalue = None"
# ///
# %%
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(64, 1024), nn.Linear(1024, 5)
# %%
def batch_loss(xb, yb):
    feats = body(xb).relu()
    scores = feats - feats.mean(1, keepdim=True)
    return F.cross_entropy(head(scores), yb)


# %%
batch_loss(torch.randn(3000, 64), torch.zeros(3001, dtype=torch.long))
# %%
print(batch_loss(torch.randn(30, 64), torch.zeros(30, dtype=torch.long)).item())
