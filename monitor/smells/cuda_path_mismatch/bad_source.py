# %% by lines of IPython
%env CUDA_HOME=/usr/local/cuda-12.1

# %% later
%set_env LD_LIBRARY_PATH /usr/local/cuda-11.8/lib64  # lint: XL519
!export PATH=/usr/local/cuda-12.1/bin:$PATH  # lint: XL519
