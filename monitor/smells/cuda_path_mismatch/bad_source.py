# %% by lines of IPython
%env CUDA_HOME=/usr/local/cuda-12.1

# %% later
%set_env LD_LIBRARY_PATH /usr/local/cuda-11.8/lib64  # lint: XL519
!export PATH=/usr/local/cuda-12.1/bin:$PATH  # lint: XL519

# %% by os.environ
import os

base = "/usr/local"
os.environ["CUDA_HOME"] = f"{base}/cuda-12.4"
os.environ["PATH"] = f"{base}/cuda-11.8/bin:" + os.environ["PATH"]  # lint: XL519

# %% by another name, in another cell
from os import environ, putenv

environ["LD_LIBRARY_PATH"] = "/opt/cuda/11.2/lib64"  # lint: XL519

# %% by the function
putenv("CUDA_PATH", "/opt/cuda-11.8")  # lint: XL519
