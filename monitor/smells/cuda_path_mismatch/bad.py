# %% a framework
import os

import torch

base = "/usr/local"

# %% by os.environ  # expect: XL519
os.environ["CUDA_HOME"] = f"{base}/cuda-12.4"
os.environ["PATH"] = f"{base}/cuda-11.8/bin:" + os.environ["PATH"]  # lint: XL519

# %% by another name  # expect: XL519
from os import environ

environ["LD_LIBRARY_PATH"] = "/opt/cuda/11.2/lib64"  # lint: XL519

# %% one after the other, of which neither says more
del environ["LD_LIBRARY_PATH"], environ["CUDA_HOME"]

# %% by a helper, all at once  # expect: XL519
def use(version):
    environ.update(CUDA_PATH=f"/opt/cuda-{version}", LD_LIBRARY_PATH=f"/opt/cuda-{version}/lib64")

use("12.1")
