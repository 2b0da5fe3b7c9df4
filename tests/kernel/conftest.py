"""Real kernels for the tests of this folder."""

from kernel_fixtures import fresh_kernel, kernel, start_kernel

__all__ = ["fresh_kernel", "kernel", "start_kernel"]
