# /// truth
# question = "asked"
# style = "short"
# needs = ["torch"]
# thread = "Stack Overflow, 2022: model deleted before loading the next one, a saved method of it keeps the parameters"
# leaked = "4 * (900 * 2400 + 2400 + 2400 * 900 + 900)"
# cause_cell = 1
# cause_line = "self.up, self.down ="
# holder = ["predict", "predict.__self__", "bound method", "scorers"]
# repair = "del scorers['v1']"
# ///
# %%
import torch
from torch import nn

class Coder(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.up, self.down = nn.Linear(d, h), nn.Linear(h, d)
    def score(self, x):
        return (self.down(self.up(x).relu()) - x).abs().mean(1)
# %%
scorers = {}
model = Coder(900, 2400); scorers["v1"] = model.score
# %%
del model
model = Coder(900, 64); scorers["v2"] = model.score
scorers["v2"](torch.ones(2, 900))
