# %% one root
import os

root = os.environ["CUDA_HOME"] = "/usr/local/cuda-12.4"
os.environ["PATH"] = f"{root}/bin:" + os.environ["PATH"]
os.environ["LD_LIBRARY_PATH"] = f"{root}/lib64:/usr/local/cuda-12.4/extras"

# %% which device, not which library
os.environ["CUDA_VISIBLE_DEVICES"] = "1"

# %% the default of the machine
os.environ["LD_LIBRARY_PATH"] = "/usr/local/cuda/lib64"

# %% one or the other
if os.path.exists("/usr/local/cuda-11.8"):
    os.environ["CUDA_PATH"] = "/usr/local/cuda-11.8"
else:
    os.environ["CUDA_PATH"] = "/usr/local/cuda-12.4"

# %% a file of that name
os.environ["MODEL"] = "/models/cuda-11.8/net.pt"
