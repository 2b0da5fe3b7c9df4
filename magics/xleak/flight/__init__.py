"""Records of kernels: the last cell and its sizes, in a file that outlives the process."""
