# /// truth
# question = "reach"
# style = "short"
# needs = ["torch"]
# thread = "Transformers pull request of 2022 that clears TorchScript's type store between tests, after PyTorch issues of 2020 on memory kept by repeated scripting"
# leaked = "20000 * (64 + 128 + 192) * 4"
# cause_cell = 2
# cause_line = "table = torch.randn(20_000, dim)"
# holder = ["torch.jit._recursive.concrete_type_store", "concrete_type_store", "TorchScript", "torch.jit", "compilation unit"]
# repair = "import torch\ntorch._C._jit_clear_class_registry()\ntorch.jit._recursive.concrete_type_store = torch.jit._recursive.ConcreteTypeStore()\ntorch.jit._state._clear_class_state()"
# ///
# %%
import torch
from torch import nn

torch.manual_seed(0)
# %%
def make_scorer(dim):
    table = torch.randn(20_000, dim)

    class Scorer(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("w", table.mean(0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ self.w

    return torch.jit.script(Scorer())


# %%
best = {}
for dim in (64, 128, 192):
    best[dim] = make_scorer(dim)(torch.ones(3, dim)).max().item()
print(best)
