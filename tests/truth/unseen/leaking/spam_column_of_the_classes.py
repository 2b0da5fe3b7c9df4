# /// truth
# question = "hides"
# style = "short"
# needs = ["torch", "numpy"]
# thread = "PyTorch issue on saving slices (2017) and Stack Overflow on numpy views of tensors: one column of the output holds the whole output"
# leaked = "8 * 20_000 * (100 - 1) * 4"
# cause_cell = 1
# cause_line = "p_spam.append("
# holder = ["p_spam"]
# repair = "p_spam = [p.copy() for p in p_spam]"
# ///
# %%
import numpy as np
import torch

torch.manual_seed(0)
head = torch.nn.Linear(16, 100)
X = torch.randn(160_000, 16)
p_spam = []
with torch.no_grad():
    for chunk in X.split(20_000):
        p_spam.append(head(chunk).softmax(dim=1).numpy()[:, 1])
# %%
print(np.mean([p.max() for p in p_spam]).round(4))
