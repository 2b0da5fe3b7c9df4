# %% a framework
import os

import torch

# %% one root
root = os.environ["CUDA_HOME"] = "/usr/local/cuda-12.4"
os.environ["PATH"] = f"{root}/bin:" + os.environ["PATH"]
os.environ["LD_LIBRARY_PATH"] = f"{root}/lib64:/usr/local/cuda-12.4/extras"

# %% which device, not which library
os.environ["CUDA_VISIBLE_DEVICES"] = "1"

# %% another minor version, that of a module of the system
os.environ["CUDA_PATH"] = "/opt/nvidia/cuda/12.2"  # lint: XL519

# %% the default of the machine
os.environ["LD_LIBRARY_PATH"] = "/usr/local/cuda/lib64"

# %% a file of that name
os.environ["MODEL"] = "/models/cuda-11.8/net.pt"

# %% an older one behind the one that counts
os.environ["PATH"] = os.environ["PATH"] + ":/usr/local/cuda-11.8/bin"  # lint: XL519
