"""Prints where torch is, what a module for it is built for, and its CUDA version: `a;b;c`."""

import sys

import torch

abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
key = f"{torch.__version__}-cxx11abi{abi}-{sys.implementation.cache_tag}"
print(torch.utils.cmake_prefix_path, key, torch.version.cuda or "", sep=";")
