"""Values as people show them."""

from __future__ import annotations

from shells import MIB

NUMPY = "import numpy as np"
TORCH = "import torch"
PANDAS = "import numpy as np, pandas as pd"
# Text as pandas 3 keeps it by itself, and pandas 2 where it is asked to.
STRINGS = (
    "x = pd.DataFrame({'a': pd.Series([f'row number {i}' for i in range(200_000)], "
    "dtype=pd.StringDtype('pyarrow', na_value=np.nan))})"
)

# (set-up, what makes `x`, what is shown, how many bytes it keeps)
VALUES = {
    "array": (NUMPY, "x = np.zeros(MIB)", "x", 8 * MIB),
    "transposed array": (NUMPY, "x = np.zeros((MIB, 1))", "x.T", 8 * MIB),
    "slice of an array": (NUMPY, "x = np.zeros(MIB)", "x[:3]", 8 * MIB),
    "array of objects": (
        NUMPY,
        "class Box: pass\nx = np.array([None, Box()], object); x[1].data = bytes(4 * MIB)",
        "x",
        4 * MIB,
    ),
    "tensor": (TORCH, "x = torch.zeros(MIB)", "x", 4 * MIB),
    "view of a tensor": (TORCH, "x = torch.zeros(MIB)", "x[:3]", 4 * MIB),
    "detached tensor": (TORCH, "x = torch.zeros(MIB, requires_grad=True)", "x.detach()", 4 * MIB),
    "array over a tensor": (TORCH, "x = torch.zeros(MIB)", "x.numpy()", 4 * MIB),
    "tensor over an array": (
        "import numpy as np, torch",
        "x = np.zeros(MIB)",
        "torch.from_numpy(x)",
        8 * MIB,
    ),
    "tensor saved by its own graph": (
        TORCH,
        "leaf = torch.ones(MIB, requires_grad=True); x = torch.relu(leaf)",
        "x",
        4 * MIB,
    ),
    "model": (TORCH, "x = torch.nn.Linear(1024, 1024)", "x", 4 * MIB),
    "model with gradients": (
        TORCH,
        "x = torch.nn.Linear(1024, 1024); x(torch.ones(1, 1024)).sum().backward()",
        "x",
        8 * MIB,
    ),
    "data frame of numbers": (PANDAS, "x = pd.DataFrame({'a': np.arange(MIB / 2)})", "x", 4 * MIB),
    "rows of a data frame": (
        PANDAS,
        "x = pd.DataFrame({'a': np.arange(MIB / 2)})",
        "x.iloc[:5]",
        4 * MIB,
    ),
    "column of a data frame": (
        PANDAS,
        "x = pd.DataFrame({'a': np.arange(MIB / 2)})",
        "x['a']",
        4 * MIB,
    ),
    "data frame of strings": (
        PANDAS,
        STRINGS,
        "x",
        3 * MIB,
    ),
    "head of a data frame of strings": (
        PANDAS,
        STRINGS,
        "x.head()",
        3 * MIB,
    ),
    "polars frame": ("import polars as pl", "x = pl.DataFrame({'a': range(MIB)})", "x", 8 * MIB),
    "list of arrays": (NUMPY, "x = [np.zeros(MIB // 4) for _ in range(4)]", "x", 8 * MIB),
    "dict of tensors": (TORCH, "x = {n: torch.zeros(MIB // 4) for n in 'abcd'}", "x", 4 * MIB),
    "list of strings": ("", "x = [f'string number {i}' for i in range(50_000)]", "x", 3 * MIB),
    "dict of lists": ("", "x = {f'key {i}': [i] for i in range(20_000)}", "x", 3 * MIB),
    "list in a cycle": (NUMPY, "x = [np.zeros(MIB)]; x.append(x)", "x", 8 * MIB),
    "generator": (NUMPY, "x = (row for row in [np.zeros(MIB)])", "x", 8 * MIB),
    "instance": (
        NUMPY,
        "class Box: pass\nx = Box(); x.data = np.zeros(MIB)",
        "x",
        8 * MIB,
    ),
    "bytearray": ("", "x = bytearray(4 * MIB)", "memoryview(x)", 4 * MIB),
}
